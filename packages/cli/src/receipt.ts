// Verifies the receipt of an erasure: its lines, the signed statement, and whose key signed it.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

type Statement = {
  readonly type: string;
  readonly erasure_id: string;
  readonly owner_sha256: string;
  readonly requested_at: string;
  readonly completed_at: string;
  readonly assets: number;
  readonly lines: number;
  readonly lines_sha256: string;
};

type Signed = { readonly statement: string; readonly signature: string; readonly public_key: string };
export type VerifiedReceipt = { readonly statement: Statement; readonly publicKey: string };

/** Throws an error that says what does not match. */
export async function verifyReceipt(file: string): Promise<VerifiedReceipt> {
  const { last, lines, digest } = await readLines(file);
  const signed = parseSigned(last);
  const statement = parseStatement(signed);
  if (statement.lines !== lines)
    throw new Error(`The statement is about ${statement.lines} lines, the file has ${lines} before it.`);
  if (statement.lines_sha256 !== digest)
    throw new Error('The lines are not those of the statement: their SHA-256 differs.');
  return { statement, publicKey: signed.public_key };
}

/** The last line is the statement; the digest is of the lines before it. */
async function readLines(file: string) {
  const hasher = createHash('sha256');
  let last = '';
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    if (count > 0) hasher.update(`${last}\n`);
    last = line;
    count += 1;
  }
  return { last, lines: Math.max(0, count - 1), digest: hasher.digest('hex') };
}

function parseSigned(line: string): Signed {
  const parsed = parseJson(line);
  const { statement, signature, public_key } = parsed;
  if (typeof statement !== 'string' || typeof signature !== 'string' || typeof public_key !== 'string')
    throw new Error('The last line is not a signed statement: the file is no receipt, or not whole.');
  return { statement, signature, public_key };
}

function parseStatement({ statement, signature, public_key }: Signed): Statement {
  const key = readKey(public_key);
  if (!key || !verify(null, Buffer.from(statement), key, Buffer.from(signature, 'base64url')))
    throw new Error('The signature is not one of the statement by its public key.');
  const parsed = parseJson(statement);
  if (parsed['type'] !== 'mediary.owner-erasure.v1') throw new Error('The statement is not of an erasure.');
  return parsed as Statement;
}

function readKey(text: string) {
  try {
    return createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function parseJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export const isOfOwner = ({ erasure_id: id, owner_sha256 }: Statement, owner: string): boolean =>
  createHash('sha256').update(`${id}:${owner}`).digest('hex') === owner_sha256;
