-- Hosted videos store only the URLs that their provider gave; all others are computed from the settings when they are shown.

-- The playback manifest of a hosted video. `earlier`: URLs of earlier releases that the provider gave or the service computed, which look the same.
create function pg_temp.hosted_manifest(provider text, video_id text, attempt int, playback jsonb, warnings jsonb) returns jsonb language sql immutable as $$
  select jsonb_build_object('kind', 'hosted', 'attempt', coalesce((playback ->> 'attempt')::int, attempt), 'videoId', video_id)
         || coalesce(jsonb_object_agg(name, url) filter (where is_given), '{}')
         || jsonb_strip_nulls(jsonb_build_object('earlier', jsonb_object_agg(name, url) filter (where not is_given and url <> 'null')))
    from (select key as name, value as url,
                 case when value = 'null' then warnings @> '[{"code":"playback_url_refused"}]' and not warnings @> '[{"code":"playback_unconfigured"}]'
                      else right(value #>> '{}', length(video_id) + length(path) + 1) <> '/' || video_id || path end as is_given
            from jsonb_each(coalesce(playback, '{}'))
            join (values ('hls', '/manifest/video.m3u8'), ('dash', '/manifest/video.mpd'), ('thumbnail', '/thumbnails/thumbnail.jpg')) as member (name, path) on name = key
           where provider <> 'cdnhost') as told
$$;

update assets
   set playback = pg_temp.hosted_manifest(provider, provider_video_id, attempt, playback, warnings),
       playable_at = coalesce(playable_at, completed_at, updated_at),
       revision = revision + 1
 where provider in ('cdnhost', 'edgehost') and provider_video_id is not null
   and (playback is null and stream_status = 'ready'
        or playback ->> 'kind' = 'urls'
           and (stream_status = 'ready' or (playback ->> 'attempt')::int = attempt
                or position('/' || provider_video_id || '/' in concat_ws(' ', playback ->> 'hls', playback ->> 'dash', playback ->> 'thumbnail')) > 0));

-- This warning depends on the settings, so it is no longer stored.
update assets
   set warnings = (select coalesce(jsonb_agg(warning), '[]') from jsonb_array_elements(warnings) as warning where warning ->> 'code' <> 'playback_unconfigured'),
       revision = revision + 1
 where warnings @> '[{"code":"playback_unconfigured"}]';
