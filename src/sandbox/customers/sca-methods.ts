import type { Customer } from './seed-customers.ts';

/** What shows the customer a TAN: a telephone, a TAN generator, an app. `push` shows none, the customer approves there. */
export type Device = 'sms' | 'chip' | 'optical' | 'photo' | 'typed-push' | 'push';

/** A way in which a customer proves an authorisation (NextGenPSD2, "Authentication Object"). */
export interface CustomerMethod {
  id: string;
  type: string;
  version?: string;
  name: string;
  explanation?: string;
  device: Device;
}

/** A TAN on a customer's device. */
export interface ReadTan {
  /** The name of the method. */
  method: string;
  /** What the device shows. */
  text: string;
  tan: string;
}

/** The methods of anna, as most banks have them. The type decides nothing: `PUSH_DEC` is no word of the standard. */
const METHODS: readonly CustomerMethod[] = [
  { id: '901', type: 'SMS_OTP', name: 'SMS to *** 4711', device: 'sms' },
  {
    id: '902',
    type: 'CHIP_OTP',
    version: 'HHD1.3.2',
    name: 'chipTAN by hand | card ******9876',
    explanation: 'Type the start code into your TAN generator.',
    device: 'chip',
  },
  {
    id: '903',
    type: 'CHIP_OTP',
    version: 'HHDOPT1.3.2',
    name: 'chipTAN optical | card ******9876',
    device: 'optical',
  },
  { id: '904', type: 'PHOTO_OTP', name: 'photoTAN', device: 'photo' },
  { id: '905', type: 'PUSH_OTP', name: 'Push to the app, TAN typed', device: 'typed-push' },
  { id: '906', type: 'PUSH_DEC', name: 'Approve in the app', device: 'push' },
];

/** The same in the words of Atruvia's public recordings, and one telephone more. Here `PUSH_OTP` means both. */
const ATRUVIAS: readonly CustomerMethod[] = [
  { id: '962', type: 'CHIP_OTP', name: 'chipTAN by hand', device: 'chip' },
  { id: '972', type: 'CHIP_OTP', name: 'chipTAN optical', device: 'optical' },
  { id: '982', type: 'PHOTO_OTP', name: 'photoTAN', device: 'photo' },
  { id: '944', type: 'PUSH_OTP', name: 'app, TAN typed', device: 'typed-push' },
  { id: '907', type: 'PUSH_OTP', name: 'app, approved there', device: 'push' },
  { id: '942', type: 'SMS_OTP', name: 'mobile TAN', device: 'sms' },
  { id: '943', type: 'SMS_OTP', name: 'mobile TAN, second telephone', device: 'sms' },
];

/**
 * The methods of a customer: anna has all of them, carla has none, and all others have SMS.
 *
 * @param shape whose words: the standard's, or those of Atruvia's public recordings
 */
export function methodsOf(
  { user }: Pick<Customer, 'user'>,
  shape: 'standard' | 'atruvia',
): readonly CustomerMethod[] {
  if (user === 'carla') return [];
  const all = shape === 'standard' ? METHODS : ATRUVIAS;
  return user === 'anna' ? all : all.filter(({ device }) => device === 'sms').slice(0, 1);
}

/** The PIN of a customer. Like the password, it is public. */
export function pinOf({ user }: Pick<Customer, 'user'>): string {
  return `pin-${user}`;
}
