"""The evaluation of the three papers, reproduced: points, figures, claims, reports."""
