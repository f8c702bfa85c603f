-- Events of earlier releases name the reconcile job "sweep". Renaming them once spares every reader of events a second name.
update events set data = jsonb_set(data, '{source}', '"reconcile"') where type = 'asset.checked' and data ->> 'source' = 'sweep';
