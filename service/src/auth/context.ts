// What the functions of authentication need.
import type { Config } from '../config.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { IssuerKeys } from './tokens/issuer-keys.ts';
import type { Secret } from './secret.ts';
import type { ServiceKeyLookup } from './keys/service-key-lookup.ts';

export type AuthContext = {
  readonly settings: Pick<Config, 'tokenSecrets' | 'serviceKeys' | 'operatorKeys' | 'issuer' | 'console'>;
  readonly db: Database;
  readonly log: Logger;
  readonly now: () => Date;
  readonly urlSecrets: readonly Secret[];
  readonly publicBaseUrl: () => string;
  /** Undefined where access tokens of an identity provider are not accepted. */
  readonly issuerKeys: IssuerKeys | undefined;
  /** Named keys, which this process holds in memory for seconds. */
  readonly namedKeys: ServiceKeyLookup;
};
