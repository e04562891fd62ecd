"""What tests use of each package, in one module a package."""
