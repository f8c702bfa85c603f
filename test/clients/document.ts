// The OpenAPI document that the clients are generated from.
import {
  CdnhostReport,
  EdgehostReport,
  OnpremReport,
  webhookOperation,
} from '../../packages/contract/src/operations/webhooks.ts';
import { renderOpenApi } from '../../packages/contract/src/openapi/document.ts';
import { OPERATIONS } from '../../packages/contract/src/operations.ts';

const WEBHOOKS = { cdnhost: CdnhostReport, edgehost: EdgehostReport, onprem: OnpremReport };

/** `origin` is the address of the service, without a slash at its end. */
export async function readOpenApiDocument(origin: string): Promise<object> {
  const webhooks = Object.entries(WEBHOOKS).map(([name, body]) =>
    webhookOperation(name, { body, signature: 'The signature of the provider.' }),
  );
  return renderOpenApi([...OPERATIONS, ...webhooks], {
    server: origin,
    providers: Object.keys(WEBHOOKS),
    version: '1.0.0',
  });
}
