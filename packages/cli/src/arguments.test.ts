// Tests the values that arguments accept, and the messages for others.
import { describe, expect, test } from 'vitest';
import {
  parseBytes,
  parseCount,
  parseDuration,
  parseHeader,
  parseJsonObject,
  parseMediaTime,
  parseWait,
} from './arguments.ts';

describe('accepted values', () => {
  test.each([
    [parseDuration, '90s', 90],
    [parseDuration, '90', 90],
    [parseDuration, '15m', 900],
    [parseDuration, '7d', 604_800],
    [parseDuration, '3650d', 315_360_000],
    [parseWait, '24d', 2_073_600],
    [parseMediaTime, '0', 0],
    [parseMediaTime, '12.5', 12_500],
    [parseMediaTime, '1:02.05', 62_050],
    [parseMediaTime, '1:00:00', 3_600_000],
    [parseBytes, '500k', 512_000],
    [parseBytes, '16MiB', 16_777_216],
    [parseBytes, '7', 7],
    [parseCount, '200', 200],
    [parseJsonObject, '{"a":1}', { a: 1 }],
    [parseHeader, 'Authorization: Bearer a: b', { Authorization: 'Bearer a: b' }],
  ])('%o parses %s', (parse, text, value) => {
    expect((parse as (text: string) => unknown)(text)).toEqual(value);
  });
});

describe('other values name the accepted form', () => {
  test.each([
    [parseDuration, ['', '0s', '1w', '-5m', '1.5h', '3651d', '999999999d']],
    [parseWait, ['25d', '1w']],
    [parseMediaTime, ['', '-1', '1:', '1.2345', '1:2:3:4', 'a']],
    [parseBytes, ['', 'k', '1T', '-1']],
    [parseCount, ['0', '-1', '1e3', '1.5']],
    [parseJsonObject, ['', '[]', 'null', '"a"', '{']],
    [parseHeader, ['a', ': b', 'a b: c']],
  ])('%o', (parse, texts) => {
    for (const text of texts)
      expect(() => (parse as (text: string) => unknown)(text), text).toThrow(/^Expected /);
  });
});
