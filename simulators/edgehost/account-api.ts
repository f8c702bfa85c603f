// The edgehost API of the account: webhook URL, signing keys, and tokens signed by edgehost.
import { type Call, readJson } from '../route.ts';
import { type Account, entryOf, newSecret } from './account.ts';
import { badRequest, failure, notFound, success } from './envelope.ts';
import { type ApiRoute, VIDEO } from './guard.ts';
import { newSigningKey, signToken } from './signatures.ts';
import { showStorage } from './storage.ts';

export const ACCOUNT_ROUTES: readonly ApiRoute[] = [
  ['storage-usage', 'GET', '/storage-usage', showStorage],
  ['webhook-put', 'PUT', '/webhook', putWebhook],
  ['webhook-get', 'GET', '/webhook', getWebhook],
  ['webhook-delete', 'DELETE', '/webhook', deleteWebhook],
  ['keys-create', 'POST', '/keys', createKey],
  [
    'keys-list',
    'GET',
    '/keys',
    ({ keys }) => success([...keys.values()].map(({ id, created }) => ({ id, created }))),
  ],
  ['keys-delete', 'DELETE', '/keys/(?<key>[\\w-]+)', deleteKey],
  ['token', 'POST', `${VIDEO}/token`, createToken],
];

const shown = ({ webhook }: Account) => ({
  notificationUrl: webhook.url,
  modified: webhook.modified,
  secret: webhook.secret,
});

/** A new webhook URL gets a new secret. */
async function putWebhook(account: Account, call: Call) {
  const { notificationUrl: url } = await readJson(call);
  if (typeof url !== 'string' || !/^https?:\/\//.test(url)) throw badRequest('invalid notificationUrl');
  const { webhook, context } = account;
  if (url !== webhook.url)
    Object.assign(webhook, {
      url,
      secret: newSecret(),
      modified: new Date(context.clock.now()).toISOString(),
    });
  return success(shown(account));
}

function getWebhook(account: Account) {
  return account.webhook.url === undefined
    ? failure(404, 10003, 'No webhook is registered')
    : success(shown(account));
}

function deleteWebhook({ webhook }: Account) {
  webhook.url = undefined;
  return success('');
}

async function createKey({ keys, context }: Account) {
  const key = await newSigningKey(new Date(context.clock.now()).toISOString());
  keys.set(key.id, key);
  const { publicKey: _, ...shown } = key;
  return success(shown);
}

function deleteKey({ keys }: Account, { params }: Call) {
  if (!keys.delete(params['key'] ?? '')) throw notFound();
  return success('');
}

const HOUR_S = 60 * 60;

async function createToken(account: Account, call: Call) {
  const { uid } = entryOf(account, call.params['uid']).video;
  const { exp, nbf, downloadable } = await readJson(call);
  const key = [...account.keys.values()][0];
  if (!key) throw badRequest('the account has no signing key');
  const claims = {
    sub: uid,
    kid: key.id,
    exp: Number(exp ?? Math.floor(account.context.clock.now() / 1000) + HOUR_S),
  };
  return success({
    token: signToken(key, {
      ...claims,
      ...(typeof nbf === 'number' ? { nbf } : {}),
      ...(downloadable === true ? { downloadable } : {}),
    }),
  });
}
