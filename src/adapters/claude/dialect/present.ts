type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** The fields that have a value: an absent field and one that is undefined are not the same to our types. */
export function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>
}
