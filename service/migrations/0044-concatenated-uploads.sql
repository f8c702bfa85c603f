-- A file may arrive as several resumable uploads at the same time, which a final upload joins (tus concatenation).
alter table uploads
  -- 'partial': never becomes the original by itself. 'final': consists of partial uploads. Null: a whole file.
  add column concatenation text check (concatenation in ('partial', 'final')),
  -- The partial uploads of a final one, in their order: ids and sizes. They may be gone already.
  add column parts jsonb,
  add constraint uploads_parts check ((parts is not null) = (concatenation is not distinct from 'final'));
