import torch

from spacy_pel.encoders.tower import mention_mask, pool

START, END = 8, 9
IDS = torch.tensor([[1, 5, START, 6, 7, END, 4, 2], [1, 5, 6, 2, 0, 0, 0, 0]])
REAL = torch.tensor([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 0]])


def test_the_mention_lies_between_its_markers():
    mask = mention_mask(IDS, REAL, (START, END))
    assert mask[0].tolist() == [0, 0, 0, 1, 1, 0, 0, 0]


def test_a_text_without_markers_counts_whole():
    assert torch.equal(mention_mask(IDS, REAL, (START, END))[1], REAL[1])


def test_means_are_over_the_mask_and_cls_is_the_first_token():
    tokens = torch.arange(2 * 8 * 3, dtype=torch.float32).reshape(2, 8, 3)
    assert torch.equal(pool(tokens, REAL, "cls"), tokens[:, 0])
    assert torch.allclose(pool(tokens, REAL, "mean")[1], tokens[1, :4].mean(dim=0))
    mask = mention_mask(IDS, REAL, (START, END))
    assert torch.allclose(pool(tokens, mask, "mention")[0], tokens[0, 3:5].mean(dim=0))
