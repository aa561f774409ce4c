"""Plans: what runs for a graph, kernel by kernel."""
