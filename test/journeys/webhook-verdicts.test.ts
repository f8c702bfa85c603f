// What the sender of a report is told about the asset it speaks of, and the deliveries that are kept (contract B6).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secret } from '../../service/src/auth/secret.ts';
import { deriveKey } from '../../service/src/auth/signed-token.ts';
import type { Secret } from '../../service/src/auth/secret.ts';
import { IMAGE, openUpload, readAsset } from '../support/media.ts';
import { asUser, call, SECRETS, startTestService, type TestService } from '../support/service.ts';
import { deliver, deliveriesOf, LIBRARY, linkVideo, notProcessed, PROCESSED, READY, signatureOf, tell } from '../support/webhooks.ts';
