import { describe, expect, it } from 'vitest';
import { useChromium } from '../support/customer.ts';
import { keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());
const newCustomer = useChromium();

const request = (...args: string[]) =>
  operator.start(['consent', 'request', '--json', ...args], { PSD2_BROWSER: 'none' });

describe('psd2 consent request with a browser', () => {
  it('psd2 consent request confirms the consent that the customer approves', async () => {
    const psd2 = await request('--category', 'ACCOUNT_INFO', '--category', 'PAYMENTS', '--all-accounts');
    const customer = await newCustomer();
    await customer.follow(psd2);
    expect(await customer.heading()).toBe('Give your consent');
    const asked = (await customer.page.textContent('main')) ?? '';
    expect(asked).toContain('Sandbox TPP asks Anna Esposito to authorise this.');
    expect(asked).toContain('See your accounts');
    expect(asked).toContain('Prepare payments from your accounts');
    for (const product of ['0010482620', '0010482638', '0000093017']) expect(asked).toContain(product);
    await customer.press('Approve consent');
    expect(await customer.heading()).toBe('Thank you, you are back from the bank');

    const ended = await psd2.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const consent = readDocument(shapes.consent, ended.stdout);
    const products = ['0010482620', '0010482638', '0000093017'];
    expect(consent).toMatchObject({
      state: 'confirmed',
      categories: [
        { name: 'ACCOUNT_INFO', products, outcome: true },
        { name: 'PAYMENTS', products, outcome: true },
      ],
    });
    expect(await operator.json(shapes.consent, ['consent', 'show', consent.flow])).toEqual(consent);
  });
});
