"""Static vectors: one vector a word, whatever stands around it, trained on the study's corpus or read from a file."""

from prasanga.static.cutting import CutCorpus, cut_corpus
from prasanga.static.files import FORMATS, WordVectors, read_vectors
from prasanga.static.lookup import Spellings, look_up, read_looked_up, spellings_of, wanted_spellings
from prasanga.static.training import Trained, read_trained, train_glove, train_word2vec, trained_table
