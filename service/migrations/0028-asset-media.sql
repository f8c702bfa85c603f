-- What the original of a video contains, as our own encoder reported it.
alter table assets add column media jsonb;
