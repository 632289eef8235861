"""What every stage stands on: plain files, and how they are read."""
