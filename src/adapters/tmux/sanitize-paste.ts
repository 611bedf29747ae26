/**
 * Text that stays one paste: a terminal code in it could end the paste early and type the rest, and a carriage return
 * would submit what stands before it.
 */
export function sanitizePaste(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/(?![\t\n])\p{Cc}/gu, '')
}
