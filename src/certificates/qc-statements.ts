import {
  DER_OID,
  DER_SEQUENCE,
  DER_UTF8_STRING,
  type DerValue,
  derOid,
  derSequence,
  derUtf8String,
  readDer,
  readDerOid,
} from './der.ts';

/** The extension with the statements (RFC 3739, section 3.2.6). */
export const QC_STATEMENTS_OID = '1.3.6.1.5.5.7.1.3';

/** The purpose of a qualified certificate: a seal (QSealC), a website (QWAC) or a signature. */
export type QcType = 'eseal' | 'web' | 'esign';

/** The roles of a payment service provider (ETSI TS 119 495, section 5.1). AISP is `PSP_AI`, PISP `PSP_PI`, PIISP `PSP_IC`. */
export type Psd2Role = 'PSP_AS' | 'PSP_PI' | 'PSP_AI' | 'PSP_IC';

/** The PSD2 statement: the provider's roles and the national authority that licensed it. */
export interface Psd2Statement {
  roles: Psd2Role[];
  ncaName: string;
  /** `<CC>-<2 to 8 capitals>`, for example `IT-BI`. */
  ncaId: string;
}

export interface QcStatements {
  qcCompliance: boolean;
  qcType: QcType | undefined;
  psd2: Psd2Statement | undefined;
}

const QC_COMPLIANCE = '0.4.0.1862.1.1';
const QC_TYPE = '0.4.0.1862.1.6';
const PSD2_STATEMENT = '0.4.0.19495.2';

const qcTypeOids: Readonly<Record<QcType, string>> = {
  esign: '0.4.0.1862.1.6.1',
  eseal: '0.4.0.1862.1.6.2',
  web: '0.4.0.1862.1.6.3',
};

const roleOids: Readonly<Record<Psd2Role, string>> = {
  PSP_AS: '0.4.0.19495.1.1',
  PSP_PI: '0.4.0.19495.1.2',
  PSP_AI: '0.4.0.19495.1.3',
  PSP_IC: '0.4.0.19495.1.4',
};

/** The DER of the extension's value (ETSI EN 319 412-5, section 4; TS 119 495, section 5.1). */
export function encodeQcStatements({ qcCompliance, qcType, psd2 }: QcStatements): Uint8Array {
  const statements: Uint8Array[] = [];
  if (qcCompliance) statements.push(derSequence(derOid(QC_COMPLIANCE)));
  if (qcType) statements.push(derSequence(derOid(QC_TYPE), derSequence(derOid(qcTypeOids[qcType]))));
  if (psd2) {
    const roles = psd2.roles.map((role) => derSequence(derOid(roleOids[role]), derUtf8String(role)));
    statements.push(
      derSequence(
        derOid(PSD2_STATEMENT),
        derSequence(derSequence(...roles), derUtf8String(psd2.ncaName), derUtf8String(psd2.ncaId)),
      ),
    );
  }
  return derSequence(...statements);
}

/**
 * Reads the extension's value. Ignores other statements. Identifies roles by their OID, not by their name.
 *
 * @throws Psd2Error `certificate` if the value is not DER.
 */
export function decodeQcStatements(der: Uint8Array): QcStatements {
  const found: QcStatements = { qcCompliance: false, qcType: undefined, psd2: undefined };
  for (const statement of children(readDer(der)[0])) {
    const [id, info] = children(statement);
    switch (oidOf(id)) {
      case QC_COMPLIANCE:
        found.qcCompliance = true;
        break;
      case QC_TYPE:
        found.qcType = children(info)
          .map((type) => keyOf(qcTypeOids, oidOf(type)))
          .find((type) => type !== undefined);
        break;
      case PSD2_STATEMENT:
        found.psd2 = readPsd2Statement(info);
        break;
    }
  }
  return found;
}

function readPsd2Statement(info: DerValue | undefined): Psd2Statement {
  const [roles, ncaName, ncaId] = children(info);
  return {
    roles: children(roles).flatMap((role) => keyOf(roleOids, oidOf(children(role)[0])) ?? []),
    ncaName: textOf(ncaName),
    ncaId: textOf(ncaId),
  };
}

function children(value: DerValue | undefined): DerValue[] {
  return value?.tag === DER_SEQUENCE ? readDer(value.content) : [];
}

function oidOf(value: DerValue | undefined): string | undefined {
  return value?.tag === DER_OID ? readDerOid(value.content) : undefined;
}

function textOf(value: DerValue | undefined): string {
  return value?.tag === DER_UTF8_STRING ? Buffer.from(value.content).toString('utf8') : '';
}

function keyOf(table: Readonly<Record<QcType, string>>, oid: string | undefined): QcType | undefined;
function keyOf(table: Readonly<Record<Psd2Role, string>>, oid: string | undefined): Psd2Role | undefined;
function keyOf(table: Readonly<Record<string, string>>, oid: string | undefined): string | undefined {
  return Object.keys(table).find((key) => table[key] === oid);
}
