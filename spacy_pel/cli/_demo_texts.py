"""Texts of the command ``demo``, written for it in the style of abstracts. They hold words with several
meanings (cold, discharge), define abbreviations, and name drugs (murepavadin,
sotagliflozin) that the default knowledge base lacks."""

DEMO_TEXTS: dict[str, str] = {
    "Winter infections of the airways": (
        "Children with asthma were followed through one winter. The common cold was followed by wheezing "
        "in most children, and rhinovirus was found in nasal discharge. In a second group of adults with "
        "chronic obstructive pulmonary disease (COPD), cough and pneumonia were recorded. Exposure to "
        "cold increased the activity of brown adipose tissue in mice, but not in patients with COPD."
    ),
    "Pseudomonas in cystic fibrosis": (
        "Bacterial culture of the sputum was positive for Pseudomonas aeruginosa in 46 adults with cystic "
        "fibrosis (CF). Patients with CF were treated with azithromycin until hospital discharge. We also "
        "tested murepavadin against Pseudomonas aeruginosa. In interviews after discharge, most patients "
        "reported vomiting or diarrhea, but no hearing loss."
    ),
    "A trial in polycystic ovary syndrome": (
        "The effect of sotagliflozin on insulin resistance was studied in polycystic ovary syndrome "
        "(PCOS). Patients with PCOS received metformin or sotagliflozin for 24 weeks. Obesity and blood "
        "glucose decreased, and ovulation returned in half of the patients. Vaginal discharge was more "
        "common with sotagliflozin than with metformin, but no sepsis occurred."
    ),
}
