"""Write into a store: calls, scores, notes and edits, each file wholly or not at all."""
