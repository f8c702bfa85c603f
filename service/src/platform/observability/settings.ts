// Settings of traces. Their names are those of OpenTelemetry.
import { choice, optionalText, type Setting, url, type Values } from '../settings/setting.ts';

/** The library has no default of its own for a ratio. */
const ALL = 1;

const samplerRatio: Setting<number> = {
  name: 'OTEL_TRACES_SAMPLER_ARG',
  type: 'text',
  about: 'The share of traces that `traceidratio` and `parentbased_traceidratio` record.',
  byDefault: String(ALL),
  allowed: 'a number from 0 to 1',
  parse: ({ given = String(ALL) }, report) => {
    const ratio = Number(given);
    if (ratio >= 0 && ratio <= 1) return ratio;
    report('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
    return ALL;
  },
};

export const TRACE_SETTINGS = {
  title: 'Traces',
  settings: {
    tracing: {
      endpoint: url(
        'OTEL_EXPORTER_OTLP_ENDPOINT',
        'Base URL of a collector that gets traces as OTLP over HTTP ' +
          '([what they show](guides/going-to-production.md#traces)); the service adds `/v1/traces`.',
        'no traces',
      ),
      serviceName: optionalText('OTEL_SERVICE_NAME', 'Name of the service in traces.', '`mediary`'),
      sampler: choice(
        'OTEL_TRACES_SAMPLER',
        'Which traces are recorded; with `parentbased_…` the `traceparent` of a caller decides first.',
        {
          choices: [
            'always_on',
            'always_off',
            'traceidratio',
            'parentbased_always_on',
            'parentbased_always_off',
            'parentbased_traceidratio',
          ],
          fallback: 'parentbased_always_on',
        },
      ),
      samplerRatio,
    },
  },
};

export type TraceSettings = Values<(typeof TRACE_SETTINGS)['settings']>['tracing'];
