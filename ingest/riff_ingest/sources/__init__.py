"""Turn foreign files into conversations, judged scores and flow descriptions, one module per source."""
