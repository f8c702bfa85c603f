// Importing by URL: the request.
import { type Static, Type } from 'typebox';
import { CreateUploadRequest } from './uploads.ts';

const {
  filename,
  content_type,
  mime_type,
  provider_video_id: _linkedVideo,
  ...sharedFields
} = CreateUploadRequest.properties;

const MAX_IMPORT_HEADERS = 32;

export const ImportRequest = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 8192,
      description: 'An http or https URL that answers GET with the bytes of the file.',
      examples: ['https://files.example.com/launch.mp4'],
    }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 4096 }), {
        maxProperties: MAX_IMPORT_HEADERS,
        description:
          'Service callers only: request headers for `url`, such as `Authorization`. ' +
          'A redirect to another origin does not get them.',
      }),
    ),
    filename: Type.Optional({
      ...filename,
      description: 'Default: the name that the response or the URL gives.',
    }),
    content_type: Type.Optional({ ...content_type, description: 'Default: `mime_type`.' }),
    mime_type: Type.Optional({
      ...mime_type,
      description: 'A supported media type; the bytes must match it. Default: the type of the response.',
    }),
    ...sharedFields,
  },
  {
    $id: 'ImportRequest',
    examples: [{ url: 'https://files.example.com/launch.mp4', visibility: 'public' }],
  },
);

export type ImportRequest = Static<typeof ImportRequest>;
