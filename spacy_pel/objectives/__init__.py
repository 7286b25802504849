"""What training minimises: losses, regularizers, mixing and anchors."""
