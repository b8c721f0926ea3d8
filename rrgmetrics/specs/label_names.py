"""The labels of metrics that compare labels, in the order of the published heads, and the keys of their F1."""

from __future__ import annotations

import re

from rrgmetrics.specs.model import Key
from rrgmetrics.specs.shared import label

NO_FINDING = "No Finding"
CT_CONDITIONS = (  # RadBERT-CT's; a report without any has No finding
    "Medical material",
    "Arterial wall calcification",
    "Cardiomegaly",
    "Pericardial effusion",
    "Coronary artery wall calcification",
    "Hiatal hernia",
    "Lymphadenopathy",
    "Emphysema",
    "Atelectasis",
    "Lung nodule",
    "Lung opacity",
    "Pulmonary fibrotic sequela",
    "Pleural effusion",
    "Mosaic attenuation pattern",
    "Peribronchial thickening",
    "Consolidation",
    "Bronchiectasis",
    "Interlobular septal thickening",
)
SRR_LEAVES = (  # SRR-BERT's, without No Finding
    "Lung Lesion",
    "Edema",
    "Pneumonia",
    "Atelectasis",
    "Aspiration",
    "Lung collapse",
    "Perihilar airspace opacity",
    "Air space opacity–multifocal",
    "Mass/Solitary lung mass",
    "Nodule/Solitary lung nodule",
    "Cavitating mass with content",
    "Cavitating masses",
    "Emphysema",
    "Fibrosis",
    "Pulmonary congestion",
    "Hilar lymphadenopathy",
    "Bronchiectasis",
    "Simple pneumothorax",
    "Loculated pneumothorax",
    "Tension pneumothorax",
    "Simple pleural effusion",
    "Loculated pleural effusion",
    "Pleural scarring",
    "Hydropneumothorax",
    "Pleural Other",
    "Cardiomegaly",
    "Pericardial effusion",
    "Inferior mediastinal mass",
    "Superior mediastinal mass",
    "Tortuous Aorta",
    "Calcification of the Aorta",
    "Enlarged pulmonary artery",
    "Hernia",
    "Pneumomediastinum",
    "Tracheal deviation",
    "Acute humerus fracture",
    "Acute rib fracture",
    "Acute clavicle fracture",
    "Acute scapula fracture",
    "Compression fracture",
    "Shoulder dislocation",
    "Subcutaneous Emphysema",
    "Suboptimal central line",
    "Suboptimal endotracheal tube",
    "Suboptimal nasogastric tube",
    "Suboptimal pulmonary arterial catheter",
    "Pleural tube",
    "PICC line",
    "Port catheter",
    "Pacemaker",
    "Implantable defibrillator",
    "LVAD",
    "Intraaortic balloon pump",
    "Pneumoperitoneum",
)
SRR_GROUPS = (  # SRR-BERT's upper labels, without No Finding
    "Pleural Effusion",
    "Upper abdominal finding",
    "Widened cardiac silhouette",
    "Lung Finding",
    "Widened aortic contour",
    "Pleural Thickening",
    "Vascular finding",
    "Consolidation",
    "Pneumothorax",
    "Subdiaphragmatic gas",
    "Masslike opacity",
    "Chest wall finding",
    "Focal air space opacity",
    "Segmental collapse",
    "Fracture",
    "Mediastinal mass",
    "Solitary masslike opacity",
    "Support Devices",
    "Mediastinal finding",
    "Pleural finding",
    "Air space opacity",
    "Diffuse air space opacity",
    "Multiple masslike opacities",
    "Musculoskeletal finding",
)


def label_key(metric: str, name: str) -> str:
    """The key of a label's F1.

    Example:
        >>> label_key("srr_bert_f1", "Mass/Solitary lung mass")
        'srr_bert_f1_mass_solitary_lung_mass'
    """
    return f"{metric}_{re.sub(r'[^a-z0-9]+', '_', name.lower()).strip('_')}"


def label_keys(metric: str, *names: str) -> tuple[Key, ...]:
    """A key for the F1 of each label over all pairs."""
    return tuple(label(label_key(metric, name), name) for name in names)
