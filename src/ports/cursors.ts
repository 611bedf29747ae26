/** Where each follower of the journal has got to; a cursor that was not saved only costs a repeat. */
export type Cursors = {
  load(name: string): Promise<number>
  save(name: string, seq: number): Promise<void>
}
