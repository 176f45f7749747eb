import { expect, it } from 'vitest';
import { isLoopback } from '../../src/domain/loopback.ts';

it.each([
  'http://127.0.0.1:8910/callback',
  'https://127.255.255.254/',
  'http://127.1/',
  'http://2130706433/',
  'http://[::1]:8910/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://LOCALHOST/',
])('%s stays on this computer', (uri) => {
  expect(isLoopback(new URL(uri))).toBe(true);
});

it.each([
  'http://128.0.0.1/',
  'http://127.0.0.1.bank.example/',
  'http://127.bank.example/',
  'http://localhost.bank.example/',
  'http://bank.example/#127.0.0.1',
  'http://127.0.0.1@bank.example/',
  'http://[::2]/',
  'http://[::ffff:192.0.2.1]/',
  'http://0.0.0.0/',
  'ftp://127.0.0.1/',
  'javascript://127.0.0.1/',
  'file://localhost/etc/passwd',
])('%s does not stay on this computer', (uri) => {
  expect(isLoopback(new URL(uri))).toBe(false);
});
