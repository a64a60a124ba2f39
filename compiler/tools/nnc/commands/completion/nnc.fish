# Completion of nnc for fish, as 'nnc completion fish' prints it.

# Whether the command line has no command yet, or the given one.
function __nnc_in
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if contains -- $word $__nnc_commands
            test "$word" = "$argv[1]"
            return
        end
    end
    test -z "$argv[1]"
end

# Whether so many arguments without a dash stand between the command and the cursor.
function __nnc_at
    __nnc_in $argv[1]; or return
    set -l count -1
    set -l words (commandline -opc)
    set -l takes
    for word in $words[2..-1]
        if set -q takes[1]
            set -e takes
        else if string match -q -- '-*' $word
            contains -- $word $__nnc_with_value; and set takes $word
        else
            set count (math $count + 1)
        end
    end
    test $count -eq $argv[2]
end

# Folders, and files with these extensions.
function __nnc_files
    # Of --option=file, the file.
    set -l file (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    set -l found (complete -C "__nnc_no_such_command $file")
    string match -r -- '.*/$' $found
    # Upper case is as good: MODEL.ONNX.
    for extension in $argv
        string match -ir -- '.*'(string escape --style=regex -- $extension)'$' $found
    end
end

# Words of which several may be given, with commas between them.
function __nnc_list
    set -l given (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    set -l front (string match -r -- '^.*,' $given)
    for word in $argv
        echo "$front$word"
    end
end

# tables of commands, options and values
