"""Texts as they come: what is cleaned away, what stays, and where each character came from."""

from __future__ import annotations

import logging
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timing import ends_within

import rrgmetrics
from rrgmetrics import cli
from rrgmetrics.comparing import explain
from rrgmetrics.reading import read
from rrgmetrics.reports.cleaning import STEPS as CLEANING_STEPS
from rrgmetrics.reports.cleaning import clean, first_control_token
from rrgmetrics.reports.text import findings_text, impression_text
from rrgmetrics.scoring import notice

STEPS = {
    "Effusion: 0. Edema: 1. Pneumothorax: 0.": "Effusion: none. Edema: present. Pneumothorax: none.",
    "_Small effusion._ _No edema._": "Small effusion. No edema.",
    "The heart is normal, The lungs are clear, No edema": "The heart is normal. The lungs are clear. No edema",
    # sections of files and print-outs
    '{"findings": "No edema.", "impression": "Normal."}': "Findings: No edema.\nImpression: Normal.\n",
    '{"findings": ["No edema.", "No mass."]}': "Findings:\n- No edema.\n- No mass.\n",
    '"findings": "No edema.",\n"impression": "Normal."': "Findings: No edema.\nImpression: Normal.",
    '<?xml version="1.0"?>\n<findings><![CDATA[No edema.]]></findings>': "\nFindings: No edema.\n",
    '<Text Label="FINDINGS">No edema.</Text>\nNo mass.': "FINDINGS: No edema.\n\nNo mass.",
    'id,findings,impression\n7,"No ""mass"", edema.",OK.\n': '\n\nFindings: No "mass", edema.\n\nImpression: OK.',
    "id\treport\n7\tNo edema. Normal.": "No edema. Normal.",
    "There is no\n\nPage 1 of 2\n\fName: A B   MRN: 7\n\nedema.\n\nPage 2 of 2": "There is no\nedema.",
    "Heart normal. No mass or\n\n   edema. Lungs clear.": "Heart normal. No mass or\nedema. Lungs clear.",
    "Heart normal。No edema、mass。": "Heart normal. No edema, mass. ",
    "number one no edema period next number two mass": "\n- no edema. \n- mass",
    "edema slash pneumonia": "edema/pneumonia",
    # sources, terminals, logs
    r"\textbf{Findings:} No edema. \textbf{Impression:} OK.": "Findings: No edema. Impression: OK.",
    r"\section*{Findings} No edema.": "\nFindings: No edema.",
    "\\begin{itemize}\n\\item No edema.\n\\item Scoliosis.\n\\end{itemize}": "\n\n- No edema.\n\n- Scoliosis.\n",
    r"A $12 \times 8$~mm nodule in the \emph{right} lung.": "A 12 x 8 mm nodule in the right lung.",
    "\\[\n\\boxed{\\text{Findings: No edema.}}\n\\]": "\nFindings: No edema.\n",
    r"\noindent Small \underline{left} effusion.\par No edema.": "Small left effusion.\nNo edema.",
    r"\documentclass{article}\begin{document}No edema.\end{document}": "No edema.",
    "\x1b[1;36mFINDINGS:\x1b[0m Small left effusion.": "FINDINGS: Small left effusion.",
    "Small \x1b[31mleft\x1b[39m effusion. No edema.\x1b[K": "Small left effusion. No edema.",
    "There is a [-large-]{+small+} left effusion.": "There is a small left effusion.",
    "There is a <del>large</del> small effusion.": "There is a  small effusion.",
    "[00:03] No edema.\n[00:07] No mass.\n[00:11] Normal.": "No edema.\nNo mass.\nNormal.",
    "A nodule{OBS-DP} in the lingula{ANAT-DP}.": "A nodule in the lingula.",
    # control tokens, roles, prompts, thinking
    "<|im_start|>assistant\nSmall left effusion.<|im_end|>": "Small left effusion.",
    "<|start_header_id|>assistant<|end_header_id|>\n\nSmall effusion.<|eot_id|>": "Small effusion.",
    "<start_of_turn>model\nSmall effusion.<end_of_turn><eos>": "Small effusion.",
    "assistant\nSmall effusion.": "Small effusion.",
    "model\n\nSmall effusion.": "Small effusion.",
    "Small effusion.<|im_end|>\n<|im_start|>user\nAny mass?": "Small effusion.",
    "Small effusion.<|im_end|>\n<|im_start|>assistant\nLarge mass.": "Small effusion.",
    "Small effusion.<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nLarge mass.": "Small effusion.",
    "Small effusion.<end_of_turn>\n<start_of_turn>user\nAny mass?": "Small effusion.",
    "<s> Small effusion. </s> <s> Small mass. </s>": "Small effusion. \n\nSmall mass. ",
    "[CLS] small effusion . [SEP] [PAD] [PAD]": "small effusion . ",
    "<|im_start|>user\nDescribe.<|im_end|>\n<|im_start|>assistant\nSmall effusion.": "Small effusion.",
    "<s>[INST] <<SYS>> Be brief. <</SYS>> Describe. [/INST] Small effusion.</s>": "Small effusion.",
    "USER: <image>\nAny mass? ASSISTANT: Small effusion.</s>": "Small effusion.",
    "A chat between a user and an assistant. USER: Any mass? ASSISTANT: Small effusion.": "Small effusion.",
    "Below is an instruction.\n\n### Instruction:\nAny mass?\n\n### Response:\nSmall effusion.": "Small effusion.",
    "### Human: Any mass?### Assistant: Small effusion.": "Small effusion.",
    "\n\nHuman: Any mass?\n\nAssistant: Small effusion.": "Small effusion.",
    "SYSTEM: Look for a mass.\nUSER: Any mass?\nASSISTANT: Small effusion.": "Small effusion.",
    "system\nYou are a helpful assistant\nuser\nAny mass?\nassistant\nSmall effusion.": "Small effusion.",
    "user\n\nAny mass?assistant\n\nSmall effusion.": "Small effusion.",
    "user\nAny mass?\nmodel\nSmall effusion.": "Small effusion.",
    "<|system|>\nBe brief.</s>\n<|user|>\nAny mass?</s>\n<|assistant|>\nSmall effusion.": "Small effusion.",
    "GPT4 Correct User: Any mass?<|end_of_turn|>GPT4 Correct Assistant: Small effusion.": "Small effusion.",
    "<|User|>:Any mass?<eoh>\n<|Bot|>:Small effusion.<eoa>": ":Small effusion.",
    "<\uff5cUser\uff5c>Any mass?<\uff5cAssistant\uff5c>Small effusion.": "Small effusion.",
    "<|USER_TOKEN|>Any mass?<|CHATBOT_TOKEN|>Small effusion.": "Small effusion.",
    "User: A. Smith. Small effusion.": "User: A. Smith. Small effusion.",
    "Surgeon: AB; Assistant: CD; Small effusion.": "Surgeon: AB; Assistant: CD; Small effusion.",
    "Small effusion.\nUSER: Any mass?": "Small effusion.\nUSER: Any mass?",
    "<think>There may be pneumonia.</think><answer>Small effusion.</answer>": "\nSmall effusion.\n",
    "<think>There may be pneumonia": "",
    "I see pneumonia.</think>Small effusion.": "Small effusion.",
    "<|channel|>analysis<|message|>Edema?<|end|><|start|>assistant<|channel|>final<|message|>No edema.": "No edema.",
    "Small effusion.<|im_e": "Small effusion.",
    "small left <unk> effusion": "small left effusion",
    "No edema<|endoftext|>Heart normal": "No edema\n\nHeart normal",
    "no edema </s> cardiomegaly": "no edema \n\ncardiomegaly",
    "The <pad> heart is [PAD] enlarged.": "The heart is enlarged.",
    "\u0120Small \u0120eff usion \u0120.\u010aNo \u0120edema": "Small effusion .\nNo edema",
    "Small\u2581effusion<0x0A>No edema": "Small effusion\nNo edema",
    # HTML and Markdown
    "No pneumothorax&nbsp;or&amp;nbsp;edema.": "No pneumothorax or edema.",
    "<ul><li>No edema</li><li>Cardiomegaly</li></ul>": "\n\n- No edema\n- Cardiomegaly\n",
    "<h2>Findings</h2><p>No edema</p>": "\nFindings:\n\nNo edema\n",
    "<findings>No edema.</findings><impression>Normal.</impression>": "\nFindings: No edema.\n\nImpression: Normal.\n",
    "## Findings\n\n**No** edema.\n": "Findings:\n\nNo edema.\n",
    "**Impression**\nNormal.": "Impression:\nNormal.",
    "# No edema\n# Cardiomegaly": "- No edema\n- Cardiomegaly",
    "**No edema**\n**Cardiomegaly**": "No edema\nCardiomegaly",
    "| Finding | Status |\n|---|---|\n| Effusion | None |\n| Edema | Mild |": "\n\n- Effusion: None\n- Edema: Mild",
    "```\nNo edema.\n```": "No edema.\n",
    "> No edema.\n> Cardiomegaly.": "No edema.\nCardiomegaly.",
    # lists
    "1) No edema 2) Cardiomegaly": "- No edema\n- Cardiomegaly",
    "(1) No edema (2) Cardiomegaly": "- No edema\n- Cardiomegaly",
    "#1 No edema #2 Cardiomegaly": "- No edema\n- Cardiomegaly",
    "1: No edema 2: Cardiomegaly": "- No edema\n- Cardiomegaly",
    "1. No edema 2. Cardiomegaly": "1. No edema\n- Cardiomegaly",
    "1 No edema 2 Cardiomegaly": "- No edema\n- Cardiomegaly",
    "a) No edema b) Cardiomegaly": "- No edema\n- Cardiomegaly",
    "(i) No edema (ii) Cardiomegaly": "- No edema\n- Cardiomegaly",
    "1) 2 views 2) No edema": "- 2 views\n- No edema",
    "#1 No edema #2 9 mm nodule": "- No edema\n- 9 mm nodule",
    "a) No edema b) 9 mm nodule": "- No edema\n- 9 mm nodule",
    "1: No edema 2: 9 mm nodule": "- No edema\n- 9 mm nodule",
    "Nodules: (a) RUL, 4 mm; (b) LLL, 7 mm": "Nodules: RUL, 4 mm;\nNodules: LLL, 7 mm",
    "CT chest: 1) Effusion 2) Mass": "CT chest: Effusion\n- Mass",
    "Nodules: 1) RUL 2) Heart: large": "Nodules: RUL\n- Heart: large",
    # fields
    '{"edema": false, "effusion": true}': "Edema: none.\nEffusion: present.\n",
    '[{"finding": "effusion", "side": "left", "present": true}]': "Left effusion.\n",
    '{"findings": {"edema": null}, "impression": "No \\"edema\\""}': 'Findings:\nImpression: No "edema".\n',
    '[{"finding": " ", "present": false}, {"finding": "edema", "present": false}]': "Edema: none.\n",
    '<edema present="false"/><mass>yes</mass>': "Edema: none.\n\nMass: present.\n",
    "Finding: edema\nSeverity: mild\nPresent: yes\nHeart large": "Finding: Mild edema.\nHeart large",
    "- finding: edema\n  side: left\n- finding: mass\n  size: no": "- Finding: Left edema.\n- Finding: Mass: none.",
    "Observation: edema\nSeverity: mild": "Mild edema.",
    '{"mass": {"left": "small", "right": "none"}}': "Left mass: small.\nRight mass: none.\n",
    "Effusion:\n- Left: small\n- Right: false": "\nLeft effusion: small\nRight effusion: none",
    "| Finding | Right | Left |\n|---|---|---|\n| Mass | | No |": "\n\n- Left mass: No",
    "Site\tFinding\tSize (mm)\nRUL\tNodule\t9\n\nRUL\tClear": "\nRUL nodule, 9 mm.\n\nRUL\n- Clear",
    "Finding\tRight\tLeft\nEffusion\tlarge\tnone": "\nRight effusion: large.\nLeft effusion: none.",
    # boxes
    "[ ] Effusion\n[x] Edema": "- no Effusion\n- Edema",
    "\u2610 Effusion \u2611 Edema": "- no Effusion\n- Edema",
    "Effusion [ ] Edema [x]": "Effusion: none\n- Edema: present",
    "Effusion: [ ] none [x] small [ ] large": "Effusion: small",
    "FINDINGS: ( ) Effusion (x) Edema": "FINDINGS: no Effusion\n- Edema",
    "Effusion (none/small/large): small": "Effusion: small",
    "Effusion: {none | *small* | large}\nEdema: **none** mild severe": "Effusion: small\nEdema: none",
    "Effusion: small **left**": "Effusion: small left",
    # rows
    "Edema   no   -\nEffusion   yes   left": "Edema: no\nEffusion: yes, left",
    "finding,present,side\nEdema,0,\nEffusion,1,left": "\nEdema: none\nEffusion: present, left",
    "EDEMA=NO|EFFUSION=YES": "EDEMA: NO\nEFFUSION: YES",
    # short answers
    "Effusion (no), edema (yes)": "Effusion: none, edema: present",
    "Effusion - no\nEdema - yes": "Effusion: no\nEdema: yes",
    "Effusion....no\nEdema....yes": "Effusion: no\nEdema: yes",
    "Heart ........ large\nLungs.....clear": "Heart: large\nLungs: clear",
    "Nodes >> No node\nHeart > Large": "Nodes: No node\nHeart: Large",
    "Effusion? No. Any edema? Yes.": "Effusion: No. edema: Yes.",
    "Heart large, effusion? No.": "Heart large, effusion: No.",
    "Effusion?\nNo.\nIs there any edema?\nYes.": "Effusion: No.\nedema: Yes.",
    "Effusion no, edema yes.": "Effusion: no, edema: yes.",
    "Effusion (Y/N): no": "Effusion: no",
    "Effusion,no\nEdema,yes": "Effusion: no\nEdema: yes",
    "Negative for:\n- effusion\n- edema\n\nHeart large": "Negative for: effusion; edema\n\nHeart large",
    "There is no:\neffusion\nedema\nThe heart is large.": "There is no: effusion; edema\nThe heart is large.",
    "['No edema.', 'Cardiomegaly.']": "- No edema.\n- Cardiomegaly.",
    '["No edema", "The patient\'s heart is enlarged"]': "- No edema\n- The patient's heart is enlarged",
    "[\"The patient's heart is large\", 'No edema']": "- The patient's heart is large\n- No edema",
    '[\n  "No acute, displaced fracture",\n  "Scoliosis"\n]': "- No acute, displaced fracture\n- Scoliosis",
    "['Cardiomegaly']": "- Cardiomegaly",
    "No edema - Cardiomegaly - Scoliosis": "No edema\n- Cardiomegaly\n- Scoliosis",
    "- no edema - cardiomegaly": "- no edema\n- cardiomegaly",
    "No edema * Cardiomegaly": "No edema\n- Cardiomegaly",
    "No edema | Cardiomegaly": "No edema\n- Cardiomegaly",
    "No edema / Cardiomegaly": "No edema\n- Cardiomegaly",
    "No edema => Cardiomegaly": "No edema\n- Cardiomegaly",
    "No edema\tCardiomegaly": "No edema\n- Cardiomegaly",
    "No node | 8 mm nodule | Emphysema": "No node\n- 8 mm nodule\n- Emphysema",
    "no effusion / tortuous aorta / thoracic kyphosis": "no effusion\n- tortuous aorta\n- thoracic kyphosis",
    "-No edema\n-Scoliosis": "- No edema\n- Scoliosis",
    # headings and their answers
    "Pneumothorax:\n- None\nEffusion:\n- None": "Pneumothorax: None\nEffusion: None",
    "Pneumothorax\n- none": "Pneumothorax: none",
    "Pneumothorax:\n\nNone.": "Pneumothorax: None.",
    "Right lung:\n1. Small effusion": "Right lung: Small effusion",
    "Effusion: (-)\nEdema: 0\nFracture: N/A\nMass: False": "Effusion: none\nEdema: none\nFracture: none\nMass: none",
    "Effusion: (+)\nEdema: True": "Effusion: present\nEdema: present",
    "LIVER (as far as imaged). A cyst.": "LIVER: A cyst.",
    "CHEST WALL AND NODES. No mass.": "CHEST WALL AND NODES: No mass.",
    "BONES – No lesion.": "BONES: No lesion.",
    "Liver. A cyst.": "Liver. A cyst.",
    # signs and dictated marks
    "PTX -ve; effusion +ve": "PTX negative; effusion positive",
    "NEG. FOR PTX, effusion-, edema–.": "negative FOR PTX, effusion: none, edema: none.",
    "no edema period mass comma left period": "no edema. mass, left.",
    "no edema new line mass next paragraph clear": "no edema\n\n mass\n\n clear",
    "Impression colon no edema full stop": "Impression: no edema.",
    "<DATE> : wires intact. [TIME] Small effusion.": "___ : wires intact. ___ Small effusion.",
    "N/G tube, E/TT, C/T ratio, c/p angles": "NG tube, ETT, CT ratio, cp angles",
    "Q: Is there pneumothorax? A: No. Q2: Mass? A2: Yes.": "pneumothorax: No. Mass: Yes.",
    "Question: Any edema?\nAnswer: Mild edema.": "Mild edema.",
    "No edema. Nodules:\n- RUL\n- LLL": "No edema. Nodules: RUL\nNodules: LLL",
    "aorta:\n  - tortuous\n  - calcified": "aorta: tortuous\n  aorta: calcified",
    "Nodules:\n1. LLL 9 mm, seen\n   before\n2. RUL 7 mm": "Nodules: LLL 9 mm, seen\n   before\nNodules: RUL 7 mm",
    "| Nodule | Size (mm) |\n|---|---|\n| 1 | 12 |\n| 2 | 7 |": "\n\n- Nodule 1: 12 mm\n- Nodule 2: 7 mm",
    "THE HEART ISN'T LARGE. THERE IS N'T ANY EDEMA.": "THE HEART ISN'T LARGE. THERE IS not ANY EDEMA.",
    # numbers
    "a nodule of 4.5\ncm": "a nodule of 4.5 cm",
    "tip 4. 5 cm above": "tip 4.5 cm above",
    "tip 4 .5 cm above": "tip 4.5 cm above",
    "tip 4 . 5 cm above": "tip 4.5 cm above",
    "tip 4,5 cm above": "tip 4.5 cm above",
    "a 1 . 2 x 0 . 8 cm nodule": "a 1.2 x 0.8 cm nodule",
    "a 12&nbsp;&times;&nbsp;8 mm nodule": "a 12 x 8 mm nodule",
    "a seven millimeter nodule, one point five by two centimeters": "a 7 millimeter nodule, 1.5 by 2 centimeters",
    "twenty-two mm, 3 point 5 cm, one and a half cm": "22 mm, 3.5 cm, 1.5 cm",
    "8 ± 1 mm, 12+/-2 cm, 8 mm (± 1 mm), 9 mm ± 0.5 mm": "8 mm, 12 cm, 8 mm, 9 mm",
    "12 ± 1 x 10 ± 1 mm, 30 ± 5%; effusion +/- edema": "12 x 10 mm, 30%; effusion +/- edema",
    "1½ cm, ½ cm, 2 1/2 cm, 3/4 cm, diam. 4 mm": "1.5 cm, 0.5 cm, 2.5 cm, 0.75 cm, diameter 4 mm",
}
UNTOUCHED = (
    "IMPRESSION: 1. No acute disease.",
    "Lungs: 1. Clear.",
    "the left - sided drain is out . a right - sided port ends in the svc . no other line .",
    "heart large. scar or mass - as before. no edema. effusion - more on the left.",
    "dilated / tortuous aorta . basal airspace disease / atelectasis . no effusion .",
    "Cardiomegaly, Kerley B lines and small effusions",
    "Normal heart, Clear lungs. Left apical cap, Pancoast tumour, Horner syndrome.",
    "",
    "Small left pleural effusion. No pneumothorax.",
    "Endotracheal tube tip 4.5 cm above the carina; a 12 x 8 mm nodule (series 3, image 44).",
    "FINDINGS: Fracture of the right 4th rib. T4-5 disc space. Fracture of T4. 5 mm nodule.",
    "#1 rib fracture and #2 rib fracture. 1:1. AP/lateral views, right > left, and/or.",
    "Fractures of ribs 4, 5 and 6. Ribs 3 and 4 . 5 mm nodule.",
    "1. 2 cm nodule\n2. No effusion",
    "There is a nodule - likely benign - in the left lobe.",
    "there is a nodule - likely benign - in the left lobe",
    "AP / lateral / oblique views, a 3 * 4 cm mass",
    "Heart - Enlarged\nLungs - Clear",
    "[A] Small effusion. [**Name**] saw it on [**2020-1-1**], <DATE>, ___.",
    "Since the film of ___, the tip of the line_2 has not moved.",
    "IMPRESSION:\n1. No edema.\n2. Cardiomegaly.",
    "Lung-RADS: 1. Category: 0",
    "# R5 and R6\nNo pneumothorax.",
    "Nodule < 1 cm, R > L, 5 > 3.",
    "A nodule of [x] cm. Compared with [ ], no change.",
    "Dr. [ ] was informed. Node (negative for malignancy).",
    "The effusion is larger, pneumothorax no.",
    "Left lung nodule, 22 mm \u2192 14 mm.",
    "Stable over a period of two years, in the same period, the 2 week period and the postoperative period.",
    "Slash wound of the chest wall. A number of nodules. Rib number two is broken. Number two drain removed.",
    "no edema\n\nno effusion\n\nmass",
    "Cardiomegaly\n\nno effusion\n\nMild edema",
    "Effusion, small\nPage 4 of the old file\n- 2 nodules",
    "New line in the SVC. There is a new line with its tip in the SVC. Right IJ new line. New PICC line.",
    "No edema after new line placement, on the next line. Comma-shaped opacity. Dilated transverse colon.",
    "Small effusion-",
    "Upper-, mid- and lower zone opacities. Pneumonia? Follow up. Is there a mass? A nodule is seen.",
    "S/P tube removal, R/L effusions, CT/PET, w/o tube, a/g/e, n/g/t.",
    "R PICC -> SVC. Port → mid SVC, ETT => carina.",
    "Three nodules, one point of note. Half of the chest. Image 1/2. 5/12 cm. Two leads in mm.",
    '{"edema": false, "mass": ',
    "There is effusion, no\nedema, no\nnodule.",
    "No effusion,\nedema,\nnodule.",
    "Since the last film:\nEffusions are larger\nEdema is new",
    "Location: right lower lobe\nSize: 6 mm",
    "Finding: No edema.\nSize: 6 mm",
    "Findings:\nLeft: effusion\nRight: no mass",
    "Heart size normal.... lungs clear\nThe heart is large .... no edema\nHeart .... large .... aorta",
    "Effusion (none/small/large): ___\nNodule (right, small): unchanged",
    "Effusions right > left\nEffusions >> right\nEffusion small > moderate\nPICC > SVC",
    "A nodule {5 mm} [{see image}] < 1 cm.",
)


@pytest.mark.parametrize(("given_text", "cleaned"), STEPS.items())
def test_steps(given_text, cleaned):
    assert clean(given_text).text == cleaned
    assert clean(cleaned).text == cleaned


@pytest.mark.parametrize("text", UNTOUCHED)
def test_clean_text_stays(text):
    cleaned = clean(text)
    assert (cleaned.text, cleaned.offsets, cleaned.removed) == (text, None, {})


def test_commas_between_the_cells_of_a_row_end_no_sentence():
    assert clean("| Mass | Left | New | Large |").text == "- Mass: Left, New, Large"


@pytest.mark.parametrize("text", [*STEPS, *UNTOUCHED])
def test_each_step_is_needed_where_it_has_edits(text):
    for step in CLEANING_STEPS:
        if any(text[start:end] != new for start, end, new, _ in step.edits(text)):
            assert step.is_needed(text), (step.kind, step.needs)


def test_what_was_removed_is_counted():
    text = "<s>1) No edema 2) ET tube 4. 5 cm above the carina&nbsp;<|im_end|><|endoftext|>"
    counts = {"HTML entity": 1, "control token": 3, "split number": 1, "list marker": 2}
    assert clean(text).removed == counts
    assert read(text).removed == counts
    assert read("Small effusion.").removed == {}


PIECES = st.sampled_from(
    [
        *(
            "<|im_end|>",
            "</s>",
            "[SEP]",
            "<unk>",
            "&nbsp;",
            "&lt;",
            "**",
            "## ",
            "\n",
            "\n\n",
            "- ",
            "1) ",
            "2) ",
            "| ",
        ),
        *("Small effusion", "No edema", "effusion", ".", " ", ":", "none", "4 . 5 cm", "4,5 cm", "\ufb01lm", "\u00a0"),
        *(
            "<br>",
            "<li>",
            "<td>",
            "\t",
            " - ",
            " / ",
            "(-)",
            "=> ",
            "\u0120",
            "\u2581",
            "|---|\n",
            "```",
            "<think>",
            "\u00ad",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=100), st.lists(PIECES, max_size=20).map("".join))


@given(TEXTS)
def test_characters_keep_their_places(text):
    cleaned = clean(text)
    if cleaned.offsets is None:
        assert cleaned.text == text
        return
    assert len(cleaned.offsets) == len(cleaned.text)
    last = (0, 0)
    for character, (start, end) in zip(cleaned.text, cleaned.offsets, strict=True):
        assert 0 <= last[0] <= start <= end <= len(text)
        assert end >= last[1]
        last = start, end
        if character.isalpha() and end - start == 1 and text[start].isascii() and text[start].isalpha():
            assert text[start] == character
    assert len(cleaned.in_place(text)) == len(text)


@settings(deadline=None)
@given(TEXTS)
def test_words_of_findings_are_words_of_the_text(text):
    reading = read(text)
    for finding in reading.findings:
        for start, end in finding.spans:
            assert text[start:end]
            assert 0 <= start < end <= len(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<s>No edema&nbsp;but a left&nbsp;effusion</s>", "effusion"),
        ("1) No edema 2) Small&nbsp;left effusion<|im_end|>", "Small&nbsp;left effusion"),
        ("| Edema | None |\n|---|---|\n| Effusion | Small |", "Effusion | Small"),
    ],
)
def test_evidence_is_of_the_text_that_was_given(text, words):
    reading = read(text)
    (finding,) = reading.abnormal
    assert words in reading.evidence(finding)
    assert "im_end" not in reading.evidence(finding)


@pytest.mark.parametrize(
    ("text", "has"),
    [
        *((f"No edema{token}", True) for token in ("</s>", "<eos>", "[SEP]", "<|eot_id|>", "<end_of_turn>", "[/INST]")),
        ("system\nBe brief.\nuser\nDescribe.\nassistant\nNo edema", True),
        ("Human: Describe.\n\nAssistant: No edema", True),
        *((text, False) for text in ("User: A. Smith\nNo edema", "Surgeon: A. Assistant: B. No edema")),
        *((text, False) for text in ("No edema [A].", "[**Name**] <DATE>", "<1 cm", "[CT] [RIGHT]", "R<L")),
    ],
)
def test_control_tokens_have_a_shape(text, has):
    assert bool(first_control_token(text)) is has


@pytest.mark.parametrize(
    "report",
    [
        "## Findings\n\nSmall left effusion.\n\n## Impression\n\nEffusion.",
        "**FINDINGS:** Small left effusion.\n\n**IMPRESSION:** Effusion.",
        "<h3>Findings</h3><p>Small left effusion.</p><h3>Impression</h3><p>Effusion.</p>",
        "<findings>Small left effusion.</findings><impression>Effusion.</impression>",
        "<b>Findings:</b> Small left effusion.<br><b>Impression:</b> Effusion.<|im_end|>",
        "<think>Findings: pneumonia.</think>FINDINGS: Small left effusion.\nIMPRESSION: Effusion.</s>",
    ],
)
def test_sections_of_marked_up_reports(report):
    assert (findings_text(report), impression_text(report)) == ("Small left effusion.", "Effusion.")


SECTIONS = (
    *("REASON FOR THIS EXAMINATION", "Reason for this exam", "UNDERLYING MEDICAL CONDITION", "Medical condition"),
    *("NDICATION", "PROCEDURE COMMENTS", "Comparison exam", "Comparison film", "Comparison date", "Reference exam"),
    *("Type of examination", "Pre-op diagnosis", "PREOPERATIVE DIAGNOSIS", "Clinical diagnosis", "Clinical background"),
    *("Relevant clinical information", "Chief complaint", "Reason for visit", "Priors", "Prior", "Previous study"),
    *("Reason for exam (entered by technologist)", "Indication for the study", "Clinical concern", "Prior exam"),
)


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize(
    "layout", ["{}: pneumothorax?\nFINDINGS: Clear lungs.", "{}:\nPneumothorax.\n\nFINDINGS:\nClear lungs."]
)
def test_sections_that_hold_no_findings(name, layout):
    report = layout.format(name)
    assert [finding.concept for finding in read(report).abnormal] == []
    assert findings_text(report) == "Clear lungs."


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "[",
        "<|",
        "&",
        "&#",
        " ",
        "\t",
        "\n",
        "\n\n",
        "- ",
        " - ",
        "| ",
        "a:",
        "**",
        "__",
        "# ",
        "['",
        "', '",
        "FINDINGS \n[IMPRESSION \n=== ",
        "a-",
        " colon",
    ],
)
@pytest.mark.parametrize(
    "other",
    ["", "a", "1) ", "m: 1) a 2) b.", '{"a":', '[{"a":1},', "<a>", "<b/>", "<think>", "[INST]", "1 . 2 ", ":\n"],
)
def test_a_long_text_takes_linear_time(piece, other):
    text = (piece + other) * (20_000 // len(piece + other))
    assert ends_within(2, partial(clean, text))


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("No pneumothorax. Cardiomegaly.", "1) No pneumothorax 2) Cardiomegaly"),
        ("No pneumothorax. No effusion.", "Pneumothorax:\n- None\nEffusion:\n- None"),
        ("Small left effusion.", "<|im_start|>assistant\nSmall left effusion.<|im_end|>"),
        ("No pneumothorax or edema.", "No pneumothorax&nbsp;or edema."),
        (
            "1.2 x 0.8 cm nodule in the right upper lobe.",
            "there is a 1 . 2 x 0 . 8 cm nodule in the right upper lobe .",
        ),
        ("No pneumothorax. No effusion.", "Pneumothorax: nil of note\nEffusion: unremarkable"),
        ("Clear lungs.", "REASON FOR THIS EXAMINATION: pneumothorax?\nFINDINGS: Clear lungs."),
    ],
)
def test_what_stands_around_a_report_costs_nothing(reference, candidate):
    assert [error.sentence for error in explain(reference=reference, candidate=candidate).errors] == []
    assert [error.sentence for error in explain(reference=candidate, candidate=reference).errors] == []


@pytest.mark.parametrize(
    ("report", "devices"),
    [
        ("Tubes, Catheters, and Support Devices:\n- Right PICC in the SVC\n- No drain", ["picc"]),
        ("Lines/Tubes/Drains: Right PICC.", ["picc"]),
        ("Lines and Tubes:\n\nHEART: Normal.", []),
        ("Support Devices:", []),
        ("Support Devices: None.", []),
        ("Catheters and tubes: endotracheal tube 4 cm above the carina.", ["endotracheal_tube"]),
        ("Lines and tubes: unchanged.", ["support_device"]),
        ("ET tube: in the trachea; NG tube: in the stomach.", ["endotracheal_tube", "enteric_tube"]),
    ],
)
def test_a_heading_of_devices_names_none(report, devices):
    assert [finding.concept for finding in read(report).abnormal] == devices


@pytest.mark.parametrize(
    ("report", "millimetres"),
    [
        ("et tube is 45 cm above the carina .", (45.0,)),
        ("et tube tip is 25 cm above the carina .", (25.0,)),
        ("et tube tip is 4 cm above the carina .", (40.0,)),
        ("endotracheal tube at 22 cm at the lips .", (220.0,)),
        ("12-cm nodule in the right lung .", (12.0,)),
        ("8 cm nodule in the right lung .", (80.0,)),
        ("12 x 8 cm mass in the right lung .", (120.0, 80.0)),
        ("12 cm mass and a nodule .", (120.0,)),
    ],
)
def test_lengths_that_no_anatomy_allows_have_lost_their_point(report, millimetres):
    assert read(report).abnormal[0].measurements_mm == millimetres


def test_a_result_counts_what_was_removed():
    texts = {
        "predictions": ["Small effusion.</s>", "1) No edema 2) Scoliosis</s>"],
        "references": ["Small effusion."] * 2,
    }
    results = rrgmetrics.score(["finding_errors", "bleu"], **texts, progress=False)
    assert results["finding_errors"].removed == {"control token": 2, "list marker": 2}
    assert results["bleu"].removed == {}
    clean_texts = {"predictions": ["Small effusion."], "references": ["Small effusion."]}
    assert rrgmetrics.score("finding_errors", **clean_texts, progress=False)["finding_errors"].removed == {}


def test_control_tokens_are_warned_of_once_for_each_column(caplog, monkeypatch):
    monkeypatch.setattr(notice, "_of_tokens", set())
    monkeypatch.delenv(notice.VARIABLE, raising=False)
    clean_texts = ["Small effusion."] * 4
    marked = ["Small effusion.", "Small effusion.<|im_end|>", "Small effusion.", "<s>Small effusion."]
    with caplog.at_level(logging.WARNING, "rrgmetrics.notice"):
        rrgmetrics.score("bleu", predictions=clean_texts, references=clean_texts, progress=False)
        assert not caplog.messages
        for _ in range(2):
            rrgmetrics.score("bleu", predictions=marked, references=clean_texts, progress=False)
        rows = [
            {"study_id": f"s{n}", "reference": "Small effusion.", "candidate": text} for n, text in enumerate(marked)
        ]
        rrgmetrics.compare({"ours": rows}, metrics="bleu", trivial=False, progress=False)
    said = [message.partition(":")[0] for message in caplog.messages]
    assert said == [
        "2 of 4 candidates contain control tokens or a prompt, as <|im_end|> (indices 1, 3)",
        "2 of 4 candidates of ours contain control tokens or a prompt, as <|im_end|> (study ids s1, s3)",
    ]
    assert "decode the new tokens only, with skip_special_tokens=True" in caplog.messages[0]


def test_tables_and_pages_count_texts_with_control_tokens(tmp_path):
    rows = [{"study_id": "s1", "reference": "Small effusion.", "candidate": "Small effusion.<|im_end|>"}]
    clean_rows = [{**rows[0], "candidate": "Small effusion."}]
    compared = rrgmetrics.compare({"a": rows, "b": clean_rows}, metrics="bleu", trivial=False, progress=False)
    said = "1 of 1 candidates of a contain control tokens or a prompt, which metrics that extract no findings count as"
    assert said in compared.to_latex()
    assert said in compared.to_html()
    assert "candidates of b contain" not in compared.to_latex()
    (tmp_path / "pairs.csv").write_text("study_id,reference,candidate\ns1,No edema.,USER: Look. ASSISTANT: No edema.\n")
    table = tmp_path / "table.md"
    assert (
        cli.main(["compare", "--systems", str(tmp_path / "pairs.csv"), "--metrics", "bleu", "--table", str(table)]) == 0
    )
    assert "1 of 1 candidates contain control tokens or a prompt" in table.read_text()


@pytest.mark.parametrize(
    "heading",
    [
        "{}\n",
        "{}\n\n",
        "[{}] ",
        "<{}> ",
        "({}) ",
        "=== {} ===\n",
        "** {} **\n",
        "--- {} ---\n",
        "{} - ",
        "{{{}}} ",
    ],
)
def test_a_heading_needs_no_colon(heading):
    parts = {"INDICATION": "Known lung mass.", "COMPARISON": "Effusion on the last film.", "IMPRESSION": "Left nodule."}
    text = "\n".join(heading.format(name) + said for name, said in parts.items())
    (finding,) = read(text).findings
    assert (finding.concept, finding.section) == ("nodule", "impression")
    assert impression_text(text) == "Left nodule."


@pytest.mark.parametrize(
    "text",
    [
        "No change since\nComparison\nof both films.",
        "Nodule of 5 mm (comparison 4 mm).",
        "Chest - clear. Heart - normal.",
        "The findings\nare unchanged.",
        "Impression of the aorta on the esophagus.",
    ],
)
def test_words_that_name_a_section_are_no_heading_within_a_statement(text):
    assert ":" not in clean(text).text.replace(": normal", "").replace(": clear", "")
