-- Events carry the revision of the asset that they describe, and two columns get the names that the code uses.

-- Orders the events of an asset, whatever the clocks of the processes; null for events of earlier releases.
alter table events add column revision int;

-- The provider itself was asked and gave its final answer on this attempt.
alter table assets rename column closed to settled;
-- When the reconcile job looks at the asset next; null: nothing is waited for.
alter table assets rename column check_at to reconcile_at;
alter index assets_to_check rename to assets_to_reconcile;
