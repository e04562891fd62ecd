"""Two hours of a busy evaluation in a few minutes, looked at all the while: is memory flat, and is nothing lost?"""
