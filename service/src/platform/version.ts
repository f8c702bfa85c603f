// The version of the service, as its package states it.
import packageJson from '../../../package.json' with { type: 'json' };

export const VERSION: string = packageJson.version;
