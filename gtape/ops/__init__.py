"""The operations of gtape, each declared once in one file of this folder."""
