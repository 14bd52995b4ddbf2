import { loadModule, parseSync } from 'libpg-query';
import { TENANT_TABLES } from './tenant-tables';

// Judges whether a statement stays within the integrations that its parameters name, on the tree of Postgres' own
// parser. A reference to a tenant's table is scoped if its integration equals a parameter, an integration of a list in
// a parameter, or the integration of another scoped reference. What the judge does not understand counts against the
// statement.

// biome-ignore lint/suspicious/noExplicitAny: a syntax tree is walked freely
type Tree = any;

/**
 * Where integrations come from: a parameter itself, or the JSON list in it (a field of its rows; null means its items).
 */
export interface Anchor {
  parameter: number;
  list: { field: string | null } | null;
}

export interface Judgement {
  /** Tenant tables that the statement names. */
  tables: string[];
  /** What is wrong with the statement. */
  faults: string[];
  anchors: Anchor[];
}

/** A column with an integration's id. Columns that must be equal lead to the same one through `same`. */
interface Key {
  isScoped: boolean;
  same: Key | null;
}

interface Column {
  name: string;
  key: Key | null;
}

/** A source of rows in one query: a table, a function, a subquery. */
interface Source {
  alias: string;
  label: string;
  isTable: boolean;
  columns: Column[];
  /** Reads the columns of a subquery again, when more is known about the query around it. */
  refresh?: () => void;
}

interface Scope {
  sources: Source[];
  ctes: Map<string, Column[]>;
  outer: Scope | null;
}

/** One query: its sources, and for each key what would scope it. */
interface Level extends Scope {
  path: string;
  rules: { key: Key; from: () => Key | null }[];
  expressions: Tree[];
  /** Whether the query only says if something exists for a row of the query around it. */
  isAboutRow: boolean;
}

const LISTS = ['json_array_elements_text', 'jsonb_array_elements_text', 'unnest'];
const RECORDSETS = ['json_to_recordset', 'jsonb_to_recordset'];
const RECORD_KEYS = ['integrationId', 'integration_id'];

await loadModule();

/** Parses a statement into its tree. */
export const parseStatement = (text: string): Tree => parseSync(text);

/**
 * Judges a statement. `spans` names references that may read all tenants, by their path (`dead/d`: alias d in the CTE
 * dead). Everything else must still follow from them.
 */
export function judgeStatement(statement: string | Tree, spans: string[] = []): Judgement {
  const tree = typeof statement === 'string' ? parseStatement(statement) : statement;
  const judge = new Judge(spans);
  for (const { stmt } of tree.stmts ?? []) judge.judge(stmt);
  const tables = new Set<string>();
  forEachRelation(tree, (relation) => {
    if (judge.ctesSeen.has(relation) || !findTable(relation)) return;
    tables.add(relation.relname);
    if (!judge.seen.has(relation)) judge.faults.add(`${relation.relname} in a statement that is not understood`);
  });
  for (const span of spans) if (!judge.spansSeen.has(span)) judge.faults.add(`${span} is excused but not there`);
  return { tables: [...tables], faults: [...judge.faults], anchors: [...judge.anchors.values()] };
}

const findTable = ({ relname, schemaname = 'public' }: Tree) =>
  schemaname === 'public' ? TENANT_TABLES.find(({ name }) => name === relname) : undefined;

function forEachRelation(tree: Tree, visit: (relation: Tree) => void) {
  if (typeof tree !== 'object' || tree === null) return;
  if (typeof tree.relname === 'string') visit(tree);
  // `for update of s` names an alias.
  for (const [name, child] of Object.entries(tree)) if (name !== 'lockingClause') forEachRelation(child, visit);
}

const createKey = (isScoped = false): Key => ({ isScoped, same: null });
function rootOf(key: Key): Key {
  let root = key;
  while (root.same) root = root.same;
  return root;
}
function equate(a: Key, b: Key) {
  const [from, to] = [rootOf(a), rootOf(b)];
  if (from !== to) from.same = to;
}

class Judge {
  readonly seen = new Set<Tree>();
  readonly ctesSeen = new Set<Tree>();
  readonly spansSeen = new Set<string>();
  readonly faults = new Set<string>();
  readonly anchors = new Map<string, Anchor>();
  readonly #spans: string[];
  readonly #parameters = new Map<number, Key>();
  #quiet = 0;

  constructor(spans: string[]) {
    this.#spans = spans;
  }

  judge(stmt: Tree) {
    this.#analyse(stmt, { sources: [], ctes: new Map(), outer: null }, '');
  }

  #fault(text: string) {
    if (this.#quiet === 0) this.faults.add(text);
  }

  /** Judges a query and answers its columns. */
  #analyse(stmt: Tree, outer: Scope, path: string, isAboutRow = false): Column[] {
    const kind = Object.keys(stmt)[0]!;
    const query = stmt[kind];
    if (kind === 'SelectStmt') return this.#analyseSelect(query, outer, path, isAboutRow);
    if (!['InsertStmt', 'UpdateStmt', 'DeleteStmt'].includes(kind)) return [];
    const level = this.#openLevel(query, outer, path);
    const target = this.#addRelation(query.relation, level);
    const keyName = findTable(query.relation)?.key;
    if (kind === 'InsertStmt') {
      this.#judgeInsert(query, level, target, keyName);
    } else {
      for (const item of query.fromClause ?? query.usingClause ?? []) this.#addFrom(item, level);
      this.#addConditions(query.whereClause, level, level.sources);
      level.expressions.push(query.whereClause);
    }
    if (kind === 'UpdateStmt') this.#forbidMove(query.targetList, target, keyName);
    const returned = query.returningClause?.exprs ?? query.returningList ?? [];
    level.expressions.push(query.targetList, returned);
    this.#close(level);
    return this.#project(returned, level);
  }

  #forbidMove(targets: Tree[] = [], target: Source, keyName: string | undefined) {
    if (keyName && targets.some(({ ResTarget }) => ResTarget.name === keyName))
      this.#fault(`${target.label} changes ${keyName}`);
  }

  #judgeInsert(query: Tree, level: Level, target: Source, keyName: string | undefined) {
    const given = query.selectStmt ? this.#analyse(query.selectStmt, level, level.path) : [];
    const names: string[] =
      query.cols?.map(({ ResTarget }: Tree) => ResTarget.name) ?? target.columns.map(({ name }) => name);
    const written = keyName && given[names.indexOf(keyName)]?.key;
    const key = target.columns.find(({ name }) => name === keyName)?.key;
    if (written && key) {
      equate(key, written);
      level.rules.push({ key, from: () => written });
    }
    const conflict = query.onConflictClause;
    if (conflict?.action !== 'ONCONFLICT_UPDATE') return;
    const inferred = conflict.infer?.indexElems?.map(({ IndexElem }: Tree) => IndexElem.name) ?? [];
    if (keyName && !inferred.includes(keyName)) this.#fault(`${target.label} updates on a conflict without ${keyName}`);
    this.#forbidMove(conflict.targetList, target, keyName);
    level.sources.push({ ...target, alias: 'excluded', label: 'excluded', isTable: false });
    level.expressions.push(conflict.targetList, conflict.whereClause);
  }

  #analyseSelect(query: Tree, outer: Scope, path: string, isAboutRow = false): Column[] {
    const level = { ...this.#openLevel(query, outer, path), isAboutRow };
    if (query.op && query.op !== 'SETOP_NONE') {
      const [left, right] = [query.larg, query.rarg].map((arm) => this.#analyseSelect(arm, level, path));
      return left!.map(({ name, key }, index) => merge(name, [key, right![index]?.key ?? null]));
    }
    if (query.valuesLists) {
      level.expressions.push(query.valuesLists);
      this.#close(level);
      const rows: Column[][] = query.valuesLists.map(({ List }: Tree) =>
        List.items.map((value: Tree) => ({ name: '', key: this.#keyOf(value, level) })),
      );
      return rows[0]!.map((_, index) =>
        merge(
          `column${index + 1}`,
          rows.map((row) => row[index]?.key ?? null),
        ),
      );
    }
    for (const item of query.fromClause ?? []) this.#addFrom(item, level);
    this.#addConditions(query.whereClause, level, level.sources);
    const { fromClause: _, withClause: __, lockingClause: ___, ...rest } = query;
    level.expressions.push(rest);
    this.#close(level);
    return this.#project(query.targetList ?? [], level);
  }

  #openLevel(query: Tree, outer: Scope, path: string): Level {
    const level: Level = {
      ...{ sources: [], ctes: new Map(outer.ctes), outer, path },
      ...{ rules: [], expressions: [], isAboutRow: false },
    };
    if (query.withClause?.recursive) this.#fault('a recursive query is not understood');
    for (const { CommonTableExpr: cte } of query.withClause?.ctes ?? []) {
      const columns = this.#analyse(cte.ctequery, { ...outer, ctes: level.ctes }, `${path}${cte.ctename}/`);
      level.ctes.set(cte.ctename, rename(columns, cte.aliascolnames));
    }
    return level;
  }

  #addRelation(relation: Tree, level: Level): Source {
    const alias = relation.alias?.aliasname ?? relation.relname;
    const label = level.path + alias;
    const cte = relation.schemaname ? undefined : level.ctes.get(relation.relname);
    const table = cte ? undefined : findTable(relation);
    (cte ? this.ctesSeen : this.seen).add(relation);
    const source: Source = { alias, label, isTable: table !== undefined, columns: [] };
    if (cte) source.columns = cte.map(({ name, key }) => ({ name, key: key && this.#instance(key) }));
    if (table) {
      const isSpan = this.#spans.includes(label);
      const key = createKey(isSpan);
      source.label = `${table.name} ${label}`;
      source.columns = table.columns.map((name) => ({ name, key: name === table.key ? key : null }));
    }
    level.sources.push(source);
    return source;
  }

  /** Makes a key for another reference to the same rows. It equals the first one only if both equal a parameter. */
  #instance(key: Key): Key {
    const instance = createKey(key.isScoped);
    for (const parameter of this.#parameters.values())
      if (rootOf(parameter) === rootOf(key)) equate(instance, parameter);
    return instance;
  }

  /** Adds the sources of a FROM item and answers them. */
  #addFrom(item: Tree, level: Level): Source[] {
    if (item.RangeVar) return [this.#addRelation(item.RangeVar, level)];
    if (item.RangeSubselect) return [this.#addSubquery(item.RangeSubselect, level)];
    if (item.RangeFunction) return [this.#addFunction(item.RangeFunction, level)];
    if (!item.JoinExpr) {
      this.#fault(`${Object.keys(item)[0]} in FROM is not understood`);
      return [];
    }
    const { larg, rarg, jointype, quals, usingClause, isNatural, alias } = item.JoinExpr;
    if (isNatural || alias) this.#fault('a natural or named join is not understood');
    const left = this.#addFrom(larg, level);
    const right = this.#addFrom(rarg, level);
    const both = [...left, ...right];
    // An outer join keeps the rows of one side that do not meet its condition.
    const bound = { JOIN_INNER: both, JOIN_LEFT: right, JOIN_RIGHT: left }[jointype as string] ?? [];
    this.#addConditions(quals, level, bound);
    level.expressions.push(quals);
    for (const { String: name } of usingClause ?? []) {
      const keys = [left, right].map((arm) => arm.flatMap(({ columns }) => findKey(columns, name.sval) ?? []));
      if (keys[0]!.length === 1 && keys[1]!.length === 1)
        this.#addEquality(keys[0]![0]!, () => keys[1]![0]!, level, bound);
    }
    return both;
  }

  #addSubquery({ subquery, alias, lateral }: Tree, level: Level): Source {
    const scope: Scope = lateral ? level : { sources: [], ctes: level.ctes, outer: level.outer };
    const source: Source = {
      alias: alias?.aliasname ?? '',
      label: alias?.aliasname ?? '',
      isTable: false,
      columns: [],
    };
    source.refresh = () => {
      const columns = rename(this.#analyse(subquery, scope, `${level.path}${source.alias}/`), alias?.colnames);
      source.columns = columns.map(({ name, key }, index) => {
        const known = source.columns[index]?.key ?? (key && createKey());
        if (known && key) {
          known.isScoped ||= key.isScoped;
          equate(known, key);
        }
        return { name, key: known };
      });
    };
    this.#quietly(source.refresh);
    level.sources.push(source);
    return source;
  }

  #addFunction({ functions, alias, coldeflist }: Tree, level: Level): Source {
    const call = functions[0].List.items[0].FuncCall;
    const name: string = call?.funcname.at(-1).String.sval ?? '';
    const parameter = call?.args?.length === 1 ? readParameter(call.args[0]) : null;
    const source: Source = {
      alias: alias?.aliasname ?? name,
      label: alias?.aliasname ?? name,
      isTable: false,
      columns: [],
    };
    const names: string[] = coldeflist
      ? coldeflist.map(({ ColumnDef }: Tree) => ColumnDef.colname)
      : (alias?.colnames?.map(({ String: s }: Tree) => s.sval) ?? [source.alias]);
    source.columns = names.map((column) => {
      const isKey = parameter !== null && RECORDSETS.includes(name) && RECORD_KEYS.includes(column);
      if (isKey) this.#anchor({ parameter, list: { field: column } });
      return { name: column, key: isKey ? createKey(true) : null };
    });
    level.expressions.push(functions);
    level.sources.push(source);
    return source;
  }

  #anchor(anchor: Anchor) {
    this.anchors.set(JSON.stringify(anchor), anchor);
  }

  #addConditions(condition: Tree, level: Level, bound: Source[]) {
    if (!condition) return;
    if (condition.BoolExpr?.boolop === 'AND_EXPR') {
      for (const part of condition.BoolExpr.args) this.#addConditions(part, level, bound);
    } else if (condition.A_Expr?.name?.at(-1).String.sval === '=') {
      this.#addComparison(condition.A_Expr, level, bound);
    } else if (condition.SubLink?.subLinkType === 'ANY_SUBLINK' && !condition.SubLink.operName) {
      const { testexpr, subselect } = condition.SubLink;
      const sides: Tree[] = testexpr.RowExpr?.args ?? [testexpr];
      for (const [index, side] of sides.entries()) {
        const key = this.#keyOf(side, level);
        const answer = () => this.#quietly(() => this.#analyse(subselect, level, level.path))[index]?.key ?? null;
        if (key && isBound(key, bound)) level.rules.push({ key, from: answer });
      }
    }
  }

  #addComparison({ kind, lexpr, rexpr }: Tree, level: Level, bound: Source[]) {
    const left = this.#keyOf(lexpr, level);
    if (kind === 'AEXPR_OP') {
      const right = left && this.#keyOf(rexpr, level);
      if (left && right) this.#addEquality(left, () => right, level, bound);
    } else if (kind === 'AEXPR_IN' || kind === 'AEXPR_OP_ANY') {
      const values: Tree[] = kind === 'AEXPR_IN' ? rexpr.List.items : [rexpr];
      const parameters = values.map(readParameter);
      if (!left || !isBound(left, bound) || parameters.includes(null)) return;
      const list = kind === 'AEXPR_IN' ? null : { field: null };
      for (const parameter of parameters) this.#anchor({ parameter: parameter!, list });
      level.rules.push({ key: left, from: () => createKey(true) });
    }
  }

  #addEquality(a: Key, findOther: () => Key, level: Level, bound: Source[]) {
    const b = findOther();
    if (a === b) return;
    if (isBound(a, bound)) level.rules.push({ key: a, from: () => b });
    if (isBound(b, bound)) level.rules.push({ key: b, from: () => a });
    if (isBound(a, bound) || isBound(b, bound)) equate(a, b);
  }

  /** Finds the key that an expression stands for, if it stands for one. */
  #keyOf(expression: Tree, scope: Scope): Key | null {
    const { ColumnRef, FuncCall } = strip(expression);
    const parameter = readParameter(expression);
    if (parameter !== null) return this.#parameterKey(parameter);
    if (FuncCall && LISTS.includes(FuncCall.funcname.at(-1).String.sval) && FuncCall.args?.length === 1) {
      const list = readParameter(FuncCall.args[0]);
      if (list === null) return null;
      this.#anchor({ parameter: list, list: { field: null } });
      return createKey(true);
    }
    return ColumnRef ? this.#resolve(ColumnRef.fields, scope) : null;
  }

  #parameterKey(parameter: number): Key {
    const key = this.#parameters.get(parameter) ?? createKey(true);
    this.#parameters.set(parameter, key);
    return key;
  }

  #resolve(fields: Tree[], scope: Scope | null): Key | null {
    const names: string[] = fields.map(({ String: name }) => name?.sval);
    const [column, alias] = [names.at(-1)!, names.at(-2)];
    for (let at = scope; at; at = at.outer) {
      const source = at.sources.find((one) =>
        alias === undefined ? one.columns.some(({ name }) => name === column) : one.alias === alias,
      );
      if (source) return findKey(source.columns, column);
    }
    return null;
  }

  #quietly<T>(work: () => T): T {
    this.#quiet++;
    try {
      return work();
    } finally {
      this.#quiet--;
    }
  }

  /** Spreads what is known until nothing more follows, then reports the faults. */
  #close(level: Level) {
    for (let hasChanged = true; hasChanged; ) {
      hasChanged = false;
      for (const { key, from } of level.rules) {
        const other = key.isScoped ? null : from();
        if (!other?.isScoped) continue;
        key.isScoped = true;
        hasChanged = true;
        if ([...this.#parameters.values()].includes(other)) this.#anchorParameter(other);
      }
      if (hasChanged) this.#quietly(() => level.sources.map(({ refresh }) => refresh?.()));
    }
    for (const { refresh } of level.sources) refresh?.();
    for (const { subselect, subLinkType } of findSubqueries(level.expressions))
      this.#analyse(subselect, level, level.path, subLinkType === 'EXISTS_SUBLINK');
    this.#reportLevel(level);
  }

  #anchorParameter(key: Key) {
    for (const [parameter, other] of this.#parameters) if (other === key) this.#anchor({ parameter, list: null });
  }

  #reportLevel(level: Level) {
    const keyed = listKeyed(level);
    for (const { isTable, label, columns } of keyed) {
      if (!isTable) continue;
      const span = label.slice(label.indexOf(' ') + 1);
      if (columns.some(({ key }) => key && !key.isScoped)) this.#fault(`${label} is not bound to an integration`);
      if (this.#spans.includes(span)) this.spansSeen.add(span);
    }
    // If a list names several tenants, rows of one must not meet rows of another.
    const around = level.isAboutRow && keyed.length > 0 ? listKeyed(level.outer!) : [];
    const [first, ...others] = [...keyed, ...around].map(
      ({ columns }) => new Set(columns.flatMap(({ key }) => (key ? [rootOf(key)] : []))),
    );
    if (others.some((own) => [...own].every((root) => !first!.has(root))))
      this.#fault(`${keyed.map(({ label }) => label).join(', ')}: joined, but not by the integration`);
  }

  /** Finds the columns of a select list or of RETURNING. */
  #project(targets: Tree[], level: Level): Column[] {
    return targets.flatMap(({ ResTarget: { name, val } }: Tree): Column[] => {
      const fields: Tree[] = val.ColumnRef?.fields ?? [];
      if (fields.at(-1)?.A_Star === undefined) {
        const own = fields.at(-1)?.String?.sval ?? val.FuncCall?.funcname.at(-1).String.sval ?? '';
        return [{ name: name ?? own, key: this.#keyOf(val, level) }];
      }
      const alias = fields.at(-2)?.String?.sval;
      return level.sources
        .filter((source) => source.alias !== 'excluded' && (alias === undefined || source.alias === alias))
        .flatMap(({ columns }) => columns);
    });
  }
}

/** Merges the integrations of several rows: scoped if all are. */
function merge(name: string, keys: (Key | null)[]): Column {
  if (keys.some((key) => key === null)) return { name, key: null };
  if (keys.length === 1) return { name, key: keys[0]! };
  return { name, key: createKey(keys.every((key) => key?.isScoped)) };
}

const rename = (columns: Column[], names: Tree[] | undefined) =>
  columns.map((column, index) => ({ ...column, name: names?.[index]?.String.sval ?? column.name }));
const findKey = (columns: Column[], name: string) => columns.find((column) => column.name === name)?.key ?? null;
const isBound = (key: Key, bound: Source[]) =>
  bound.some(({ columns }) => columns.some((column) => column.key === key));

function strip(expression: Tree): Tree {
  let inner = expression ?? {};
  for (;;) {
    const { TypeCast, CollateClause, SubLink } = inner;
    if (TypeCast || CollateClause) inner = (TypeCast ?? CollateClause).arg;
    else if (SubLink && isBareValue(SubLink)) inner = SubLink.subselect.SelectStmt.targetList[0].ResTarget.val;
    else return inner;
  }
}
/** `(select $1)`, which is only that value. */
function isBareValue({ subLinkType, subselect: { SelectStmt: query } }: Tree): boolean {
  const { targetList = [], ...rest } = query;
  const isOther = Object.keys(rest).some((clause) => !['limitOption', 'op'].includes(clause));
  return subLinkType === 'EXPR_SUBLINK' && query.op === 'SETOP_NONE' && targetList.length === 1 && !isOther;
}
const readParameter = (expression: Tree): number | null => strip(expression).ParamRef?.number ?? null;

/** Lists the sources with a key. */
const listKeyed = ({ sources }: Scope) =>
  sources.filter(({ alias, columns }) => alias !== 'excluded' && columns.some(({ key }) => key));

/** Finds the queries inside expressions, without those nested in them. */
function findSubqueries(tree: Tree): Tree[] {
  if (typeof tree !== 'object' || tree === null) return [];
  if (tree.SubLink) return [tree.SubLink, ...findSubqueries(tree.SubLink.testexpr)];
  return Object.values(tree).flatMap(findSubqueries);
}
