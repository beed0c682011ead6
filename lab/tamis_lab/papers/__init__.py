"""The tables and figures of the three papers: as data, measured, drawn, held to their claims."""
