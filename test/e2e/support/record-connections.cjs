// Loaded into every Node.js process of a test (NODE_OPTIONS): records its connections, and changes nothing else.
const { appendFileSync } = require('node:fs');
const dgram = require('node:dgram');
const dns = require('node:dns');
const net = require('node:net');

const command = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const record = (kind, target) =>
  appendFileSync(process.env.RECORDED_CONNECTIONS, `${JSON.stringify({ command, kind, target })}\n`);

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const [options] = net._normalizeArgs(Array.isArray(args[0]) ? args[0] : args);
  record('connect', options.path ?? `${options.host ?? 'localhost'}:${options.port}`);
  return connect.apply(this, args);
};
const { lookup } = dns;
dns.lookup = (name, ...args) => {
  if (!net.isIP(name)) record('lookup', name);
  return lookup(name, ...args);
};
const { send } = dgram.Socket.prototype;
dgram.Socket.prototype.send = function (...args) {
  record('datagram', String(args.at(-2)));
  return send.apply(this, args);
};
