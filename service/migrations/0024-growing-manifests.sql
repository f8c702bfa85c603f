-- The manifests of encode runs that have not ended: they grow with each segment, and objects are never overwritten.
create table growing_manifests (
  asset_id uuid not null,
  -- `<attempt>-<try>` below the asset's renditions.
  folder text not null,
  name text not null,
  body text not null,
  primary key (asset_id, folder, name)
);
