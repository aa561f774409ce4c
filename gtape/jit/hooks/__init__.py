"""What converted code calls: Python values stay Python, traced ones become graph."""
