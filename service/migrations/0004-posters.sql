-- Which picture of a video its thumbnail shows, in milliseconds from its start; null: chosen by the service.
alter table assets add column poster_time_ms bigint;
