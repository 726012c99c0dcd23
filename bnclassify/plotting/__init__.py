"""Pictures: networks by Graphviz, charts by matplotlib."""
