// A relay to a bank that delays each answer by the given milliseconds, with almost no CPU time:
//   node slow-relay.js <port of the bank> <milliseconds>   prints its own port
import { connect, createServer } from 'node:net';

const [port, milliseconds] = process.argv.slice(2).map(Number);

const relay = createServer((client) => {
  const bank = connect(port, '127.0.0.1');
  for (const [one, other] of [
    [client, bank],
    [bank, client],
  ]) {
    one.setNoDelay().on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
  client.pipe(bank);
  bank.on('data', (answer) => setTimeout(() => client.write(answer), milliseconds));
});
relay.listen(0, '127.0.0.1', () => process.stdout.write(`${relay.address().port}\n`));
