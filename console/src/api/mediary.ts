// The API, as the console calls it: by the cookie of its session.
import { createMediary } from '@mediary/client';

/** Where the service is: the folder above `/console/`, which may be below the root of the host. */
export const SERVICE_URL = new URL('..', document.baseURI).href.replace(/\/$/, '');

export const mediary = createMediary({ baseUrl: SERVICE_URL, headers: { 'x-mediary-console': '1' } });
