// `upload-tokens`: tokens that let a page upload for an owner. They need the service key.
import type { UploadToken } from '@mediary/client';
import { type Command, Option } from 'commander';
import { ASSET_KINDS, collect, parseBytes, parseCount, parseDuration } from '../arguments.ts';
import { openClient } from '../client.ts';
import type { Handler, Runner } from '../context.ts';
import { formatBytes, formatFields, formatTime } from '../text.ts';

type TokenFlags = {
  readonly kind?: NonNullable<UploadToken['kinds']>;
  readonly mimeType?: string[];
  readonly maxSize?: number;
  readonly maxUploads?: number;
  readonly public?: boolean;
  readonly tag?: string[];
  readonly expires?: number;
};

export const addUploadTokenCommands = (program: Command, run: Runner): Command =>
  program
    .command('upload-tokens')
    .description('Create tokens that may only upload, for pages (service key)')
    .command('create')
    .description('Create an upload token for the owner; prints it once')
    .addOption(new Option('--kind <kind...>', 'only this kind; can be repeated').choices(ASSET_KINDS))
    .option('--mime-type <type>', 'only this media type; can be repeated', collect)
    .option('--max-size <size>', 'largest file, such as 50M', parseBytes)
    .option('--max-uploads <count>', 'number of uploads; default: 1', parseCount)
    .option('--public', 'everybody can play the uploads; default: private')
    .option('--tag <tag>', 'tag of every upload; can be repeated', collect)
    .option('--expires <duration>', 'lifetime, such as 15m; default: 1h, at most 1d', parseDuration)
    .addHelpText(
      'after',
      '\nExample:\n  mediary upload-tokens create --owner ann --kind image --max-size 50M',
    )
    .action(run(createUploadToken));

const createUploadToken: Handler<TokenFlags> = async (context, _args, flags) => {
  const { mediary, options } = await openClient(context);
  const created = await mediary.uploadTokens.create(toRequest(flags), options);
  context.output.result(created, () => formatToken(created));
  context.output.note('The token is not shown again.');
};

const toRequest = (flags: TokenFlags) => ({
  kinds: flags.kind,
  mime_types: flags.mimeType,
  max_bytes: flags.maxSize,
  max_uploads: flags.maxUploads,
  visibility: flags.public ? ('public' as const) : undefined,
  tags: flags.tag,
  expires_in: flags.expires,
});

const formatToken = (token: UploadToken): string =>
  formatFields([
    ['token', token.token],
    ['owner', token.owner_user_id],
    ['kinds', token.kinds?.join(', ') ?? 'all'],
    ['media types', token.mime_types?.join(', ') ?? 'all'],
    ['largest file', token.max_bytes === null ? 'any size' : formatBytes(token.max_bytes)],
    ['uploads', token.max_uploads],
    ['visibility', token.visibility],
    ['tags', token.tags.join(', ')],
    ['expires', formatTime(token.expires_at)],
  ]);
