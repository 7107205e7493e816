# Named filters that backends use besides jq's own, most of them as comparers: run on both sides, they
# make equal what means the same. Each leaves alone what it does not know.

# The text without its last dot: DNS names.
def trim_dot: if type == "string" then rtrimstr(".") else . end;

# The content of a DNS record: an address, or parts of which names (with their last dot) and long hexadecimal
# numbers have no case. What has quotes is a text.
def dns_record: if type != "string" or contains("\"") then .
  elif test("^[0-9A-Fa-f.:]+$") then cidr
  else split(" ") | map(if test("\\.$|^[0-9A-Fa-f]{32,}$") then ascii_downcase else . end) | join(" ") end;

# The character that a reference names, without its `&` and `;`; null for an unknown one.
def character: if startswith("#x") or startswith("#X") then
    try ([reduce (.[2:] | ascii_downcase | explode[]) as $digit (0; . * 16
      + if $digit >= 48 and $digit < 58 then $digit - 48 elif $digit > 96 and $digit < 103 then $digit - 87 else error end)]
      | implode) catch null
  elif startswith("#") then try ([.[1:] | tonumber] | implode) catch null
  else {amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'"}[.] end;

# Character references resolved, each once: APIs that escape for a page what they return as data.
def html_unescape: if type == "string" then split("&") as $parts
    | reduce $parts[1:][] as $part ($parts[0] // ""; ($part | split(";")) as $words
      | (if ($words | length) > 1 then $words[0] | character else null end) as $character
      | . + if $character == null then "&" + $part else $character + ($words[1:] | join(";")) end)
  else . end;

# Zero, "", [], {} and false are the same as nothing.
def empty_is_missing: if . == 0 or . == "" or . == [] or . == {} or . == false then null else . end;

# Zero is the same as nothing.
def zero_is_missing: if . == 0 then null else . end;

# Names separated by commas, or a list of names, as a sorted list without doubles.
def comma_set: if type == "string" then split(",") | map(trim) | map(select(. != "")) else . end
  | if type == "array" then unique else . end;

# The same list joined by commas, as some APIs take it.
def comma_joined: if type == "array" then map(tostring) | join(",") else . end;

# JSON in a text as the value it says; other texts as they are.
def json_value: if type == "string" then (try fromjson catch null) as $v | if $v == null then . else $v end else . end;

# Kubernetes' `managedFields`: the managers of an object's fields, each with the paths that it set. The members of
# `fieldsV1` are `f:NAME`, `k:{"name":"web"}` for an element known by its keys, of which the first is taken,
# `v:VALUE` for one of a set and `i:INDEX`; `.` is the place itself, which its members tell as well. What was applied
# leaves the object when it is applied no longer.
def fieldsv1:
  def step:
    if startswith("f:") then "[" + (.[2:] | tojson) + "]"
    elif startswith("k:") then .[2:] | fromjson | to_entries[0] | "[" + .key + "=" + (.value | tostring | tojson) + "]"
    elif startswith("i:") then "[" + .[2:] + "]"
    else "[*]" end;
  map({name: .manager, leaves: (.operation == "Apply"), paths: [.fieldsV1 // {} | paths(. == {}) | select(last != ".") | map(step) | add]});

# An object with the uid of the one that was seen: Kubernetes applies it to no other of its name.
def same_uid($seen): $seen.metadata.uid? as $uid | if $uid then .metadata.uid = $uid else . end;

# jq's own, without its way to build a value of any depth.
def getpath($path): if ($path | length) > 100 then error("a path of more than 100 steps") else reduce $path[] as $p (.; .[$p]) end;
def setpath($path; $x): getpath($path) = $x;
def delpaths($paths): reduce ($paths | sort | reverse)[] as $path (.; getpath($path) |= empty);
