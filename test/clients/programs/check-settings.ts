// `npm start` of the documents: the service would start with the settings of the environment. Those that it
// generates on a laptop are given.
import { readConfig } from '../../../service/src/config.ts';

const GENERATED = {
  ACCESS_TOKEN_SECRET: 'generated',
  SERVICE_API_KEY: 'generated',
  OPERATOR_KEY: 'generated',
};

readConfig({ ...GENERATED, ...process.env }, (path) => path);
