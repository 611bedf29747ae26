/** A private folder of documents; each is replaced whole, so that a reader never meets half of one. */
export type DocumentFolder = {
  /** Makes the folder when it is not there. */
  prepare(): Promise<void>
  pathOf(name: string): string
  has(name: string): Promise<boolean>
  read(path: string): Promise<string>
  replace(path: string, text: string): Promise<void>
}
