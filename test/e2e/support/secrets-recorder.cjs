// Loaded before everything that the end-to-end tests run with Node: records the secrets that pass through it, its
// arguments and where it stores. A token may live for less than a command, so that afterwards no file has it.
'use strict';
const { appendFileSync } = require('node:fs');
const { resolve } = require('node:path');

const KINDS = {
  access_token: 'access token',
  accessToken: 'access token',
  refresh_token: 'refresh token',
  refreshToken: 'refresh token',
  client_secret: 'client secret',
  clientSecret: 'client secret',
  ccClientSecret: 'client secret',
};
let file = process.env.SECRETS_RECORD;
const seen = new Set();

/** A process of the tests may run commands of several operators, one after the other. */
function followOperator() {
  if (process.env.SECRETS_RECORD === file) return;
  file = process.env.SECRETS_RECORD;
  seen.clear();
}

function record(kind, value) {
  followOperator();
  if (!file || typeof value !== 'string' || value === '' || seen.has(value)) return;
  seen.add(value);
  note({ kind, value });
}

function note(line) {
  try {
    // The limit for the size of a file may have cut short the line of an earlier process.
    appendFileSync(file, `\n${stringify(line)}\n`, { mode: 0o600 });
  } catch (error) {
    // Some tests let no file grow.
    if (error.code !== 'EFBIG') throw error;
  }
}

function look(value, depth = 0) {
  if (typeof value !== 'object' || value === null || depth > 3) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name in KINDS) record(KINDS[name], inner);
    else if (typeof inner === 'object') look(inner, depth + 1);
  }
  if ('grant_type' in value) record('authorization code', value.code);
}

const { parse, stringify } = JSON;
JSON.parse = (...given) => {
  const value = parse(...given);
  look(value);
  return value;
};
JSON.stringify = (...given) => {
  look(given[0]);
  return stringify(...given);
};
const { append } = URLSearchParams.prototype;
URLSearchParams.prototype.append = function (name, value) {
  if (name === 'code') record('authorization code', value);
  return append.call(this, name, value);
};

const config = process.env.PSD2_CONFIG_DIR;
if (file) note({ argv: process.argv, config: config && resolve(config) });
