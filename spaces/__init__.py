"""Browser side of rrgmetrics; installed as `rrgmetrics.spaces` (extra `spaces`)."""

if __name__ == "spaces":  # in a checkout Gradio, looking for Hugging Face's package of that name, finds this folder
    raise ImportError("This is rrgmetrics.spaces.")

from rrgmetrics.spaces.ui import build_space, launch

__all__ = ["build_space", "launch"]
