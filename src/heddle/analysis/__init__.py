"""What records and traces tell: one package for each question (docs/architecture.md). Nothing here simulates."""
