"""A model's forward pass in two halves, body and head, whatever its family; or whole, where there is no other way."""

from __future__ import annotations

from typing import Any

import torch


class Halves:
    """A model's forward pass in two halves."""

    def __init__(self, model: Any) -> None:
        self.model = model
        prefix = model.base_model_prefix
        self._name = prefix if hasattr(model, prefix) else "decoder"  # T5 has encoder and decoder and nothing around
        self._encoder = None if hasattr(model, prefix) else model.encoder
        self._body = getattr(model, self._name)
        self._stand_in = _StandIn(self._body)
        setattr(model, self._name, self._stand_in)

    @property
    def asked(self) -> bool:
        """Whether the stand-in has been asked for states by the model."""
        return self._stand_in.asked

    def undone(self) -> Any:
        """The model as it was."""
        setattr(self.model, self._name, self._body)
        return self.model

    def attend_by(self, name: str) -> None:
        """Have attention from another of transformers' functions."""
        for part in (self.model, self._body):
            part.set_attn_implementation(name)

    def body(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        decoder_input_ids: torch.Tensor | None = None,
        decoder_attention_mask: torch.Tensor | None = None,
        **asked: Any,
    ) -> Any:
        """The output of everything below the head."""
        if decoder_input_ids is None:
            caching = {"use_cache": False} if self.model.config.get_text_config().to_dict().get("use_cache") else {}
            return self._body(input_ids=input_ids, attention_mask=attention_mask, **caching, **asked)
        if self._encoder is None:
            return self._body(
                input_ids=input_ids,
                attention_mask=attention_mask,
                decoder_input_ids=decoder_input_ids,
                decoder_attention_mask=decoder_attention_mask,
                use_cache=False,
            )
        read = self._encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return self._body(
            input_ids=decoder_input_ids,
            attention_mask=decoder_attention_mask,
            encoder_hidden_states=read,
            encoder_attention_mask=attention_mask,
            use_cache=False,
        )

    def head(self, states: torch.Tensor) -> torch.Tensor:
        """The model's own forward pass on (1, n, d) states instead of those of its body."""
        self._stand_in.states = states
        given = {} if self._encoder is None else {"encoder_outputs": (states,)}
        logits: torch.Tensor = self.model(**given).logits
        self._stand_in.states = None
        return logits


class Whole:
    """The same interface for a model that only runs whole: logits in place of states, and a head that does nothing."""

    def __init__(self, halves: Halves) -> None:
        self.model = halves.undone()

    def attend_by(self, name: str) -> None:
        """As `Halves.attend_by`."""
        self.model.set_attn_implementation(name)

    def body(self, **inputs: Any) -> Any:
        """The output of the whole model."""
        caching = {"use_cache": False} if self.model.config.get_text_config().to_dict().get("use_cache") else {}
        output = self.model(**inputs, **caching)
        return _Output((output.logits,), getattr(output, "attentions", None))

    def head(self, logits: torch.Tensor) -> torch.Tensor:
        """What it is given."""
        return logits


class _StandIn(torch.nn.Module):
    """Gives the states it was handed, whatever it is asked; everything else about it is the body's."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.states: torch.Tensor | None = None
        self.asked = False
        self._of = (body,)  # not a module of this one: its weights are counted and moved once

    def forward(self, *_: Any, **__: Any) -> Any:
        self.asked = self.states is not None
        return _Output((self.states,))

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_of":
                raise
            return getattr(self._of[0], name)


class _Output(tuple[Any, ...]):
    """The output of a base model of which the states are all that is known, and perhaps its attention weights."""

    attentions: Any

    def __new__(cls, states: tuple[Any, ...], attentions: Any = None) -> _Output:
        made = super().__new__(cls, states)
        made.attentions = attentions
        return made

    def __getattr__(self, name: str) -> Any:
        return self[0] if name == "last_hidden_state" else None
