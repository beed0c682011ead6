"""The tables and figures of the three papers: as data, measured, drawn, and held to their claims."""
